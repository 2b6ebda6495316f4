import { Transform } from 'node:stream';
import { Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { routeOf, SlipwayHttpAdapter, type SlipwayRequest } from '@slipway/platform-http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DigestCheck, parseContentDigest } from './content-digest.js';

/** The one operation that takes Content-Digest. */
export const PUT_FILE = 'putSandboxFile';

const checks = new WeakMap<object, DigestCheck>();

/**
 * `Content-Digest` covers a message as it was sent, and of a JSON body nobody keeps the bytes. So they are digested on
 * their way into the parser, if the header asks for it.
 */
@Injectable()
export class JsonDigests implements OnModuleInit {
  constructor(@Optional() private readonly host?: HttpAdapterHost) {}

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds the same modules and serves nothing.
    if (!(adapter instanceof SlipwayHttpAdapter)) return;
    adapter.getInstance<FastifyInstance>().addHook('preParsing', async (request, _reply, payload) => {
      const header = request.headers['content-digest'];
      if (typeof header !== 'string' || routeOf(request)?.operationId !== PUT_FILE || !isJson(request)) return payload;
      const check = new DigestCheck(parseContentDigest(header));
      checks.set(request, check);
      return payload.pipe(
        new Transform({
          transform: (chunk: Buffer, _encoding, done) => {
            check.update(chunk);
            done(null, chunk);
          },
        }),
      );
    });
  }
}

/** @throws digest_mismatch (422) */
export function verifyJsonDigest(request: SlipwayRequest): void {
  checks.get(request)?.verify();
  checks.delete(request);
}

function isJson(request: FastifyRequest): boolean {
  return request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
