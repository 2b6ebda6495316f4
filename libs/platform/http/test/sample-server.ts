import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { errors, serveOpenApi, SlipwayHttpAdapter, type Scope } from '../src/index.js';
import { SampleModule } from './sample.controller.js';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: any;
  text: string;
}

/** The sample's routes behind a guard that accepts one token, `ok`, on a real port. */
export class SampleServer {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly port: number,
  ) {}

  static async start(): Promise<SampleServer> {
    const adapter = new SlipwayHttpAdapter({ bodyLimit: 4096 });
    adapter.setGuard(async (request) => {
      if (request.headers.authorization !== 'Bearer ok') throw errors.unauthenticated();
      request.slipway.tenantId = 't1';
      request.slipway.principal = {
        tenantId: 't1',
        tenantName: 't',
        isOperatorTenant: false,
        actor: { type: 'token', id: 'x' },
        scopes: new Set<Scope>(['admin']),
        owner: { type: 'person', id: 'alice' },
        minters: [],
      };
    });
    const app = await NestFactory.create<NestFastifyApplication>(SampleModule, adapter, { logger: false });
    serveOpenApi(app);
    await app.listen(0, '127.0.0.1');
    return new SampleServer(app, (app.getHttpServer().address() as AddressInfo).port);
  }

  close(): Promise<void> {
    return this.app.close();
  }

  readonly send = async (
    method: string,
    path: string,
    options: { body?: string | Uint8Array; headers?: Record<string, string>; token?: string } = {},
  ): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      body: options.body as never,
      headers: {
        ...(options.token === '' ? {} : { authorization: `Bearer ${options.token ?? 'ok'}` }),
        ...(options.body !== undefined ? { 'content-type': 'application/json' } : {}),
        ...options.headers,
      },
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      text,
      body: text.startsWith('{') ? JSON.parse(text) : undefined,
    };
  };

  /** Sends bytes unchanged and reads until the server closes. */
  raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(this.port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });
  }
}

export function expectEnvelope(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body?.error?.code, text: answer.text }).toMatchObject({ status, code });
  const { error } = answer.body;
  expect(Object.keys(answer.body)).toEqual(['error']);
  expect(typeof error.message).toBe('string');
  expect(typeof error.category).toBe('string');
  expect(error.request_id).toBe(answer.headers['x-request-id']);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['x-should-retry']).toBe(error.retryable ? undefined : 'false');
}

/** The smallest valid body of the sample. */
export const good = JSON.stringify({ name: 'abc' });
