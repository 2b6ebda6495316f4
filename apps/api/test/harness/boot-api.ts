import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadConfig, type Config } from '@slipway/platform-config';
import { createTestDatabase } from '@slipway/platform-database/testing';
import { clientOf, type ApiClient } from '@slipway/platform-testing/contract';
import { MIGRATIONS } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { Slipway } from '@slipway/sdk';
import { createApi } from '../../src/create-api.js';
import { wholeAnswer, type WholeAnswer } from './whole-answer.js';

/** The value that SLIPWAY_IDENTITY_PROVIDER sets: the types know only the default. */
export const PROVIDER = 'acme-id' as 'oidc';

export {
  clientOf,
  expectStatus,
  type Answer,
  type ApiClient,
  type SendOptions,
} from '@slipway/platform-testing/contract';

/** An api on a real socket with a database of its own. `token` is the operator tenant's bootstrap token. */
export interface TestApi extends ApiClient {
  app: NestFastifyApplication;
  url: string;
  config: Config;
  token: string;
  /**
   * The client of the operator's bootstrap token, or of another's. It does not
   * retry, so that a suite sees each failure.
   */
  slipway(token?: string): Slipway;
  /** Also returns the status and the headers of HTTP. */
  answerTo<T>(call: (slipway: Slipway) => PromiseLike<T>, token?: string): Promise<WholeAnswer<T>>;
  close(): Promise<void>;
}

const BOOTSTRAP_TOKEN = `slw_boot_${'b'.repeat(40)}`;

/** @param env settings in addition to those that a test always needs, by the names of the environment variables */
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
    { process: 'api', targets: TARGETS },
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
    slipway: (token = BOOTSTRAP_TOKEN) => new Slipway({ baseUrl: url, token, maxRetries: 0 }),
    answerTo: (call, token = BOOTSTRAP_TOKEN) => wholeAnswer({ baseUrl: url, token }, call),
    async close() {
      app.getHttpServer().closeAllConnections();
      await app.close();
      await database.drop();
    },
  };
}
