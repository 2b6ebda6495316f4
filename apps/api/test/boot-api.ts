import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadConfig, type Config } from '@slipway/platform-config';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-testing';
import { MIGRATIONS } from '@slipway/registry';
import { createApi } from '../src/create-api.js';

/** A client of an api, wherever that runs, and the database behind it. */
export interface ApiClient {
  database: TestDatabase;
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** A second tenant with an admin token of its own. */
  createTenant(name: string): Promise<{ id: string; name: string; token: string }>;
  /** A token of the given tenant's admin, the operator's unless told otherwise. */
  createToken(scope: 'viewer' | 'operator' | 'admin', admin?: string): Promise<string>;
}

/** An api on a real socket with a database of its own. `token` is the operator tenant's bootstrap token. */
export interface TestApi extends ApiClient {
  app: NestFastifyApplication;
  url: string;
  config: Config;
  token: string;
  close(): Promise<void>;
}

export interface SendOptions {
  body?: unknown;
  /** The bootstrap token unless given; null sends none. */
  token?: string | null;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: any;
  text: string;
}

const BOOTSTRAP_TOKEN = `slw_boot_${'b'.repeat(40)}`;

/** @param env settings beside those a test always needs, by the names of the environment variables */
export async function bootApi(env: Record<string, string> = {}): Promise<TestApi> {
  const database = await createTestDatabase(MIGRATIONS);
  const config = loadConfig(
    {
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      SLIPWAY_MIGRATE_DATABASE_URL: database.ownerUrl,
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      SLIPWAY_BOOTSTRAP_TOKEN: BOOTSTRAP_TOKEN,
      SLIPWAY_API_PORT: '0',
      SLIPWAY_DATABASE_POOL: '4',
      SLIPWAY_RATE_LIMIT_READS: '0',
      SLIPWAY_RATE_LIMIT_MUTATIONS: '0',
      ...env,
    },
    tmpdir(),
  );
  const app = await createApi(config, { logger: false, docs: false });
  await app.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  return {
    ...clientOf(() => url, database, BOOTSTRAP_TOKEN),
    app,
    url,
    config,
    token: BOOTSTRAP_TOKEN,
    async close() {
      app.getHttpServer().closeAllConnections();
      await app.close();
      await database.drop();
    },
  };
}

/** @param token the bootstrap token, which requests carry unless they say otherwise */
export function clientOf(url: () => string, database: TestDatabase, token: string): ApiClient {
  const send = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
    exchange(url(), method, path, { ...options, token: options.token === undefined ? token : options.token });
  return {
    database,
    send,
    async createTenant(name) {
      return expectStatus(await send('POST', '/api/v1/tenants', { body: { name } }), 201);
    },
    async createToken(scope, admin) {
      const answer = await send('POST', '/api/v1/tokens', {
        body: { name: scope, scopes: [scope] },
        ...(admin && { token: admin }),
      });
      return expectStatus(answer, 201).token;
    },
  };
}

export function expectStatus(answer: Answer, status: number): any {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
}

async function exchange(
  url: string,
  method: string,
  path: string,
  { body, token, headers }: SendOptions,
): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    redirect: 'manual',
    body:
      body === undefined
        ? undefined
        : typeof body === 'string' || body instanceof Uint8Array
          ? body
          : JSON.stringify(body),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}
