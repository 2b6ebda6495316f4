import { createHash, type Hash, timingSafeEqual } from 'node:crypto';
import { Transform } from 'node:stream';
import { Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors, routeOf, SlipwayHttpAdapter, type SlipwayRequest } from '@slipway/platform-http';
import { sandboxErrors } from '../sandbox.errors.js';

/** RFC 9530: the algorithms that a recipient must know. The others are insecure and are ignored, as the RFC allows. */
const ALGORITHMS = { 'sha-256': { name: 'sha256', bytes: 32 }, 'sha-512': { name: 'sha512', bytes: 64 } } as const;
type Algorithm = keyof typeof ALGORITHMS;

export type ContentDigests = Partial<Record<Algorithm, Buffer>>;

const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/;

/**
 * Reads `Content-Digest`, an RFC 8941 dictionary of byte sequences such as `sha-256=:…=:, sha-512=:…=:`.
 * @throws invalid_parameter (400) if the header is no such dictionary, or a digest has the wrong length
 */
export function parseContentDigest(header: string | undefined): ContentDigests {
  if (header === undefined || header.trim() === '') return {};
  const digests: ContentDigests = {};
  for (const text of header.split(',')) {
    const member = MEMBER.exec(text.trim());
    if (!member) throw malformed('must have the form sha-256=:<base64>:');
    const algorithm = member[1] as Algorithm;
    if (!Object.hasOwn(ALGORITHMS, algorithm)) continue;
    const digest = Buffer.from(member[2]!, 'base64');
    if (digest.length !== ALGORITHMS[algorithm].bytes)
      throw malformed(`must contain ${ALGORITHMS[algorithm].bytes} bytes for ${algorithm}`);
    digests[algorithm] = digest;
  }
  return digests;
}

/** Returns the header for content whose SHA-256 is known. */
export function contentDigestOf(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
}

/** Digests bytes as they pass, with every requested algorithm, and compares at the end. */
export class DigestCheck {
  private readonly hashes: [Algorithm, Hash][];

  constructor(private readonly expected: ContentDigests) {
    this.hashes = (Object.keys(expected) as Algorithm[]).map((algorithm) => [
      algorithm,
      createHash(ALGORITHMS[algorithm].name),
    ]);
  }

  update(chunk: Buffer): void {
    for (const [, hash] of this.hashes) hash.update(chunk);
  }

  /** Call once, after the last byte. @throws digest_mismatch (422) */
  verify(): void {
    for (const [algorithm, hash] of this.hashes) {
      if (timingSafeEqual(hash.digest(), this.expected[algorithm]!)) continue;
      throw sandboxErrors.digest_mismatch({
        details: [
          {
            field: 'Content-Digest',
            code: 'digest_mismatch',
            message: `the ${algorithm} digest does not match the content`,
          },
        ],
      });
    }
  }
}

function malformed(rule: string): Error {
  const message = `Content-Digest ${rule}`;
  return errors.invalid_parameter({ message, details: [{ field: 'Content-Digest', code: 'format', message }] });
}

/** The only operation that takes Content-Digest. */
export const PUT_FILE = 'putSandboxFile';

const checks = new WeakMap<object, DigestCheck>();

/**
 * `Content-Digest` covers a message as it was sent, but the parser does not keep the bytes of a JSON body. So the bytes
 * are digested on their way into the parser, if the header requests it.
 */
@Injectable()
export class JsonDigests implements OnModuleInit {
  constructor(@Optional() private readonly host?: HttpAdapterHost) {}

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds the same modules but serves no HTTP.
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
