import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { copyOf, freePort, type TestDatabase } from '@slipway/platform-database/testing';
import { Slipway } from '@slipway/sdk';
import { BundledProcesses } from './bundled-process.js';

jest.setTimeout(600_000);

const ROOT = path.resolve(import.meta.dirname, '../../..');
const TOKEN = `slw_bundle000001_${'b'.repeat(43)}`;
const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

let home: string;
let database: TestDatabase;
let bundles: BundledProcesses;
let apiUrl: string;
let apiEnv: NodeJS.ProcessEnv;

beforeAll(async () => {
  // Outside of the repository, so that no bundle finds its node_modules.
  home = mkdtempSync(path.join(tmpdir(), 'slipway-bundle-'));
  const made = spawnSync(process.execPath, [path.join(ROOT, 'tools/bundle/main.mjs'), home], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  const port = await freePort();
  apiUrl = `http://127.0.0.1:${port}`;
  apiEnv = { SLIPWAY_API_PORT: String(port), SLIPWAY_BOOTSTRAP_TOKEN: TOKEN };
  database = await copyOf({
    key: `unbundled_${path.basename(home).slice(-6).toLowerCase()}`,
    async fill({ ownerUrl, url, gatewayUrl }) {
      const unbundled = new BundledProcesses(home, environment({ ownerUrl, url, gatewayUrl }));
      const { status, output } = await unbundled.run('migrate', [], {}, ROOT);
      if (status !== 0) throw new Error(output);
    },
  });
  bundles = new BundledProcesses(home, environment(database));
});
afterEach(() => bundles.end());
afterAll(async () => {
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

function environment({ ownerUrl, url, gatewayUrl }: Omit<TestDatabase, 'drop'>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    DATABASE_URL: url,
    SLIPWAY_MIGRATE_DATABASE_URL: ownerUrl,
    SLIPWAY_GATEWAY_DATABASE_URL: gatewayUrl,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
    SLIPWAY_HOME: path.join(home, 'home'),
  };
}

async function migrationsOf({ ownerUrl }: Pick<TestDatabase, 'ownerUrl'>): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  const { rows } = await client.query('select timestamp, name from schema_migrations order by id');
  await client.end();
  return rows;
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const slipway = (): Slipway => new Slipway({ baseUrl: apiUrl, token: TOKEN, maxRetries: 0 });

describe('migrations', () => {
  it('have the names that the compiled files have: nothing is pending on their database', async () => {
    expect(await bundles.run('migrate')).toEqual({ status: 0, output: 'nothing to migrate\n' });
  });

  it('create the same list in an empty database', async () => {
    const empty = await copyOf({ key: `empty_${path.basename(home).slice(-6).toLowerCase()}`, fill: async () => {} });
    try {
      const { status, output } = await bundles.run('migrate', [], environment(empty));
      expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('migrated ') });
      const names = await migrationsOf(empty);
      expect(names.length).toBeGreaterThan(10);
      expect(names).toEqual(await migrationsOf(database));
    } finally {
      await empty.drop();
    }
  });
});

it('every program starts: back-up, restore, key rotation and audit verification do their work', async () => {
  const folder = path.join(home, 'backup');
  expect(await bundles.run('backup', [folder])).toMatchObject({ status: 0 });
  expect(await bundles.run('restore', [folder])).toMatchObject({ output: expect.stringContaining('restore') });
  expect(await bundles.run('rotate-secret-key', ['--check'])).toMatchObject({ status: 0 });
  // No api has made the first tenant yet.
  expect(await bundles.run('audit-verify')).toEqual({ status: 2, output: 'there is no tenant\n' });
  const programs = readdirSync(path.join(ROOT, 'apps/api/dist')).filter((file) =>
    /^(main|migrate|backup|restore|audit-verify|rotate-secret-key)\.js$/.test(file),
  );
  const bundled = readdirSync(path.join(home, 'api/apps/api/dist'));
  expect(programs.filter((file) => !bundled.includes(file))).toEqual([]);
});

it('the api serves its OpenAPI document, its pages, and checks bodies with the rules of their classes', async () => {
  await bundles.start('api', apiEnv);
  const served = (await (await fetch(`${apiUrl}/openapi.json`)).json()) as { paths: object };
  const committed = JSON.parse(readFileSync(path.join(ROOT, 'libs/sdk/openapi.json'), 'utf8')) as { paths: object };
  expect(served.paths).toEqual(committed.paths);
  for (const page of ['/', '/docs', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'])
    expect({ page, status: (await fetch(`${apiUrl}${page}`)).status }).toEqual({ page, status: 200 });
  await expect(slipway().deployments.create({ name: 'Not A Name' })).rejects.toMatchObject({ status: 422 });
  await expect(slipway().deployments.create({ name: 'chat', unknown: 1 } as never)).rejects.toMatchObject({
    status: 422,
  });
  await slipway().deployments.create({ name: 'chat' });
});

it('the worker runs operations with a queue in Postgres, and the gateway serves the result', async () => {
  const gatewayPort = await freePort();
  await bundles.start('api', apiEnv);
  await bundles.start('worker', {});
  await bundles.start('gateway', { SLIPWAY_GATEWAY_PORT: String(gatewayPort) });
  expect((await fetch(`http://127.0.0.1:${gatewayPort}/healthz`)).status).toBe(200);
  const { id } = await slipway().sandboxes.create();
  await slipway().sandboxes.files.put(id, { path: 'a.txt', content: 'kept' });
});

const redisIt = hasRedis ? it : it.skip;
redisIt('the worker connects to Redis for its queue, and names a Redis that it must not use', async () => {
  const port = await freePort();
  const redis: ChildProcess = spawn('redis-server', ['--port', String(port), '--save', '']);
  try {
    await once(redis.stdout!, 'data');
    const env = { QUEUE_BACKEND: 'redis', REDIS_URL: `redis://127.0.0.1:${port}` };
    const { output, stop } = await bundles.start('worker', env);
    expect(output()).toContain('accepting operations');
    expect(output()).not.toMatch(/"level":"(error|fatal)"/);
    await stop();
    spawnSync('redis-cli', ['-p', String(port), 'config', 'set', 'maxmemory-policy', 'allkeys-lru']);
    await expect(bundles.start('worker', env)).rejects.toThrow('may evict jobs (maxmemory-policy allkeys-lru)');
  } finally {
    redis.kill('SIGKILL');
  }
});

it('files of sandboxes are stored in S3', async () => {
  const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => {
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  };
  const directory = path.join(home, 's3');
  const options = { address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: 'files' }] };
  const server = new S3rver(options);
  const { port } = await server.run();
  try {
    await bundles.start('api', {
      ...apiEnv,
      SLIPWAY_WORKSPACE_STORE: 's3://files/here',
      SLIPWAY_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    });
    const { id } = await slipway().sandboxes.create();
    await slipway().sandboxes.files.put(id, { path: 'a.txt', content: 'kept in a bucket' });
    const stored = readdirSync(path.join(directory, 'files'), { recursive: true, encoding: 'utf8' });
    expect(stored.filter((file) => file.startsWith('here/')).length).toBeGreaterThan(0);
  } finally {
    await server.close();
  }
});

describe('with a server that answers for another service', () => {
  const requests: string[] = [];
  let server: http.Server;
  let origin: string;
  beforeAll(async () => {
    server = http.createServer((request, response) => {
      requests.push(request.url!);
      const discovery = {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/t`,
      };
      const isDiscovery = request.url === '/.well-known/openid-configuration';
      response.writeHead(isDiscovery ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isDiscovery ? { ...discovery, jwks_uri: `${origin}/jwks` } : {}));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  it('the console sends people to their identity provider', async () => {
    await bundles.start('api', {
      ...apiEnv,
      SLIPWAY_PUBLIC_URL: apiUrl,
      SLIPWAY_IDENTITY_PROVIDER: 'acme-id',
      SLIPWAY_IDENTITY_ISSUER: origin,
      SLIPWAY_IDENTITY_AUDIENCE: 'https://slipway.test/api',
      SLIPWAY_IDENTITY_JWKS_URL: `${origin}/jwks`,
      SLIPWAY_IDENTITY_CLIENT_ID: 'console',
    });
    const answer = await fetch(`${apiUrl}/console/sign-in`, { redirect: 'manual' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toContain(`${origin}/authorize?`);
  });

  it('a worker with a target of the kind kubernetes watches its API server', async () => {
    const kubeconfig = path.join(home, 'kubeconfig');
    const cluster = { name: 'c', cluster: { server: origin } };
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
    const user = { name: 'u', user: { token: 'none' } };
    const lines = { 'current-context': 'c', clusters: [cluster], contexts: [context], users: [user] };
    writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...lines }));
    const file = path.join(home, 'slipway.config.yaml');
    const engines = {
      sim: { image: 'sim:1', command: ['sim'], port: 8000, ready: { path: '/health', timeout_seconds: 60 } },
    };
    const reached = { cluster: { kubeconfig }, namespaces: { default: 'models' } };
    const target = { name: 'pods', kind: 'kubernetes', ...reached, engines };
    writeFileSync(file, JSON.stringify({ targets: [target] }));
    const { output } = await bundles.start('worker', { SLIPWAY_CONFIG: file });
    await until('requests to the API server', () => requests.some((url) => url.includes('/namespaces/models/')));
    expect(output()).toContain('accepting operations');
  });
});
