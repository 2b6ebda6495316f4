import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ConfigError,
  loadConfig,
  readStackFile,
  resolveSecret,
  VARIABLES,
  writeStackFile,
  type TargetReader,
} from './index.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
/** Of a kind only its name; libs/registry tests the default file with the real ones. */
const TARGETS: TargetReader[] = [
  { kind: 'process', keys: ['engines'], read: () => ({}) },
  { kind: 'endpoint', keys: ['allow'], read: () => ({}) },
];
const EXTERNAL = { DATABASE_URL: 'postgres://u:p@db/slipway', SLIPWAY_SECRET_KEY: KEY };

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), 'slipway-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const problemsOf = (env: NodeJS.ProcessEnv): string[] => {
  try {
    loadConfig(env, cwd);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('loadConfig', () => {
  it('gives the documented defaults', () => {
    const config = loadConfig(EXTERNAL, cwd, { targets: TARGETS });
    expect(config).toMatchObject({
      env: 'development',
      home: path.join(cwd, '.slipway'),
      host: '127.0.0.1',
      apiPort: 7070,
      gatewayPort: 7080,
      database: { url: EXTERNAL.DATABASE_URL, migrateUrl: EXTERNAL.DATABASE_URL, embedded: false, poolSize: 10 },
      queue: { backend: 'postgres' },
      identity: { provider: 'oidc' },
      leaseSeconds: 30,
      logLevel: 'info',
      worker: { concurrency: 20 },
      upload: { maxBytes: 104_857_600, workspaceStore: `file:${path.join(cwd, '.slipway', 'workspaces')}` },
      gateway: { publicUrl: 'http://127.0.0.1:7080' },
      rateLimit: { readsPerMinute: 6000, mutationsPerMinute: 1200 },
    });
    expect(config.secretKey).toEqual(Buffer.alloc(32, 7));
    expect(config.operator.targets.map((target) => [target.name, target.kind])).toEqual([
      ['local', 'process'],
      ['adopted', 'endpoint'],
    ]);
  });

  it('names every problem at once and prints no secret', () => {
    const problems = problemsOf({
      ...EXTERNAL,
      SLIPWAY_API_PORT: 'x',
      SLIPWAY_LEASE_SECONDS: '0',
      SLIPWAY_SECRET_KEY: 'c2VjcmV0',
      QUEUE_BACKEND: 'kafka',
      SLIPWAY_BOOTSTRAP_TOKEN: 'hunter2',
      SLIPWAY_CONFIG: 'missing.yaml',
    });
    for (const name of [
      'SLIPWAY_API_PORT',
      'SLIPWAY_LEASE_SECONDS',
      'SLIPWAY_SECRET_KEY',
      'QUEUE_BACKEND',
      'SLIPWAY_BOOTSTRAP_TOKEN',
      'SLIPWAY_CONFIG',
    ]) {
      expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
    }
    expect(problems).toHaveLength(6);
    expect(problems.join()).not.toMatch(/hunter2|c2VjcmV0/);
  });

  it('counts an empty variable as unset', () => {
    expect(loadConfig({ ...EXTERNAL, REDIS_URL: '', SLIPWAY_API_PORT: ' ' }, cwd)).toMatchObject({
      apiPort: 7070,
      queue: { backend: 'postgres' },
    });
  });

  it('chooses Redis when it is given, and asks for it when it is chosen', () => {
    expect(loadConfig({ ...EXTERNAL, REDIS_URL: 'redis://r:6379' }, cwd).queue).toEqual({
      backend: 'redis',
      redisUrl: 'redis://r:6379',
    });
    expect(loadConfig({ ...EXTERNAL, REDIS_URL: 'redis://r:6379', QUEUE_BACKEND: 'postgres' }, cwd).queue.backend).toBe(
      'postgres',
    );
    expect(problemsOf({ ...EXTERNAL, QUEUE_BACKEND: 'redis' })).toEqual([
      'REDIS_URL is required when QUEUE_BACKEND=redis',
    ]);
  });

  it('finds the embedded Postgres through the stack file, and says what to do without it', () => {
    expect(problemsOf({})).toEqual([
      `DATABASE_URL is not set and no embedded Postgres runs under ${cwd}/.slipway: run \`npm start\`, or set DATABASE_URL`,
    ]);
    const home = path.join(cwd, 'h');
    writeStackFile(home, { databaseUrl: 'postgres://app@x/y', migrateUrl: 'postgres://owner@x/y', secretKey: KEY });
    expect(statSync(path.join(home, 'run', 'stack.json')).mode & 0o777).toBe(0o600);
    expect(loadConfig({ SLIPWAY_HOME: 'h' }, cwd).database).toMatchObject({
      url: 'postgres://app@x/y',
      migrateUrl: 'postgres://owner@x/y',
      embedded: true,
    });
    writeFileSync(path.join(home, 'run', 'stack.json'), '{"databaseUrl":');
    expect(readStackFile(home)).toBeUndefined();
  });

  it('is strict in production', () => {
    mkdirSync(path.join(cwd, '.slipway'));
    writeStackFile(path.join(cwd, '.slipway'), {
      databaseUrl: 'postgres://a@x/y',
      migrateUrl: 'postgres://b@x/y',
      secretKey: KEY,
    });
    const problems = problemsOf({ NODE_ENV: 'production', SLIPWAY_PAUSE_POINT: 'after-claim' });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'DATABASE_URL',
      'SLIPWAY_PAUSE_POINT',
      'SLIPWAY_SECRET_KEY',
    ]);
    expect(loadConfig({ ...EXTERNAL, NODE_ENV: 'production' }, cwd).env).toBe('production');
    expect(
      problemsOf({
        ...EXTERNAL,
        NODE_ENV: 'production',
        SLIPWAY_IDENTITY_ISSUER: 'https://i',
        SLIPWAY_IDENTITY_AUDIENCE: 'a',
        SLIPWAY_IDENTITY_JWKS_URL: 'http://i/keys',
      }),
    ).toHaveLength(1);
  });

  it('wants a secret key beside an external database', () => {
    expect(problemsOf({ DATABASE_URL: EXTERNAL.DATABASE_URL })[0]).toMatch(/^SLIPWAY_SECRET_KEY is required/);
  });

  it('wants the identity variables together', () => {
    expect(
      problemsOf({ ...EXTERNAL, SLIPWAY_IDENTITY_ISSUER: 'https://issuer' }).map((problem) => problem.split(' ')[0]),
    ).toEqual(['SLIPWAY_IDENTITY_AUDIENCE', 'SLIPWAY_IDENTITY_JWKS_URL']);
  });

  it('makes a relative workspace folder absolute under the home', () => {
    expect(loadConfig({ ...EXTERNAL, SLIPWAY_WORKSPACE_STORE: 'file:w' }, cwd).upload.workspaceStore).toBe(
      `file:${cwd}/.slipway/w`,
    );
    expect(loadConfig({ ...EXTERNAL, SLIPWAY_WORKSPACE_STORE: 's3://bucket/p' }, cwd).upload.workspaceStore).toBe(
      's3://bucket/p',
    );
    expect(problemsOf({ ...EXTERNAL, SLIPWAY_WORKSPACE_STORE: '/plain/path' })).toHaveLength(1);
  });

  it('prefers slipway.config.yaml of the working folder over the default', () => {
    writeFileSync(
      path.join(cwd, 'slipway.config.yaml'),
      'targets: [{name: only, kind: endpoint, allow: []}]\nsecrets: {hub: {env: HUB_TOKEN}}',
    );
    const { operator } = loadConfig(EXTERNAL, cwd, { targets: TARGETS });
    expect(operator.targets.map((target) => target.name)).toEqual(['only']);
    expect(resolveSecret(operator, 'hub', { HUB_TOKEN: 't' })).toBe('t');
    expect(() => resolveSecret(operator, 'hub', {})).toThrow('HUB_TOKEN is not set');
    expect(() => resolveSecret(operator, 'toString', {})).toThrow('not declared');
  });
});

it('every variable stands in docker/.env.example, and nothing else does', () => {
  const file = new URL('../../../../docker/.env.example', import.meta.url);
  expect(existsSync(file)).toBe(true);
  const inFile = [...readFileSync(file, 'utf8').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(
    (match) => match[1] as string,
  );
  // Read by compose.yaml or by the AWS client itself, not by Slipway.
  const foreign = [
    'POSTGRES_PASSWORD',
    'SLIPWAY_APP_PASSWORD',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
  ];
  expect([...new Set(inFile)].filter((name) => !foreign.includes(name)).sort()).toEqual(
    VARIABLES.map((variable) => variable.name).sort(),
  );
});
