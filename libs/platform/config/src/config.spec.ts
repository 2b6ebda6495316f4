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
/** Kinds with only a name; libs/registry tests the default file with the real ones. */
const TARGETS: TargetReader[] = [
  { kind: 'process', schema: { properties: { engines: {} } }, read: () => ({}) },
  { kind: 'endpoint', schema: { properties: { allow: {} } }, read: () => ({}) },
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
      gateway: { publicUrl: 'http://127.0.0.1:7080', drainSeconds: 600 },
      rateLimit: { readsPerMinute: 6000, mutationsPerMinute: 1200 },
    });
    expect(config.keyRing.current.secret.export()).toEqual(Buffer.alloc(32, 7));
    expect(config.operator.targets.map((target) => [target.name, target.kind])).toEqual([
      ['local', 'process'],
      ['adopted', 'endpoint'],
    ]);
  });

  it('knows the ports that no outbound call may reach', () => {
    const ports = (env: NodeJS.ProcessEnv) =>
      [...loadConfig({ ...EXTERNAL, ...env }, cwd).ownPorts].sort((a, b) => a - b);
    expect(ports({})).toEqual([5432, 7070, 7080]);
    expect(
      ports({
        DATABASE_URL: 'postgres://u:p@db:6000/slipway',
        SLIPWAY_MIGRATE_DATABASE_URL: 'postgres://u:p@db:6001/slipway',
        REDIS_URL: 'rediss://cache',
        SLIPWAY_METRICS_PORT: '9090',
        SLIPWAY_API_PORT: '0',
        SLIPWAY_S3_ENDPOINT: 'http://127.0.0.1:9000',
        SLIPWAY_OWN_PORTS: '9091, 9092',
      }),
    ).toEqual([6000, 6001, 6379, 7080, 9000, 9090, 9091, 9092]);
    expect(problemsOf({ ...EXTERNAL, SLIPWAY_OWN_PORTS: '80,x' })).toEqual([
      'SLIPWAY_OWN_PORTS must be a whole number from 1 to 65535, not "80,x"',
    ]);
  });

  it('reads the proxies for outbound calls as other programs do, closes their ports, and shows no password', () => {
    const read = (env: NodeJS.ProcessEnv) => loadConfig({ ...EXTERNAL, ...env }, cwd);
    expect(read({}).outboundProxy).toBeUndefined();
    expect(read({ NO_PROXY: '*' }).outboundProxy).toBeUndefined();
    const config = read({
      HTTPS_PROXY: 'http://user:pass@127.0.0.1:3128/',
      HTTP_PROXY: 'proxy:8080',
      NO_PROXY: 'a, .b  c',
    });
    expect(config.outboundProxy).toEqual({
      http: 'http://proxy:8080',
      https: 'http://user:pass@127.0.0.1:3128/',
      none: ['a', '.b', 'c'],
    });
    expect(config.ownPorts).toContain(3128);
    expect(config.ownPorts).not.toContain(8080);
    const problem = 'HTTPS_PROXY must be the address of an http or https proxy, as in http://proxy.example:3128';
    expect(problemsOf({ ...EXTERNAL, HTTPS_PROXY: 'socks5://user:pass@proxy' })).toEqual([problem]);
    expect(problemsOf({ ...EXTERNAL, HTTPS_PROXY: 'http://proxy/path' })).toEqual([
      `${problem}, not "http://proxy/path"`,
    ]);
  });

  it('bounds how long a stopping gateway waits', () => {
    const drain = (seconds: string) => ({ ...EXTERNAL, SLIPWAY_GATEWAY_DRAIN_SECONDS: seconds });
    expect(['0', '86400'].map((seconds) => loadConfig(drain(seconds), cwd).gateway.drainSeconds)).toEqual([0, 86_400]);
    for (const wrong of ['-1', '86401', '1.5', 'long']) expect(problemsOf(drain(wrong))).toHaveLength(1);
  });

  it('accepts names of headers for engines, except those that would expose a credential or break a request', () => {
    const passed = (names: string) =>
      loadConfig({ ...EXTERNAL, SLIPWAY_GATEWAY_PASSED_HEADERS: names }, cwd).gateway.passedHeaders;
    expect(passed(' X-Mine,x-other, x-mine,')).toEqual(['x-mine', 'x-other']);
    for (const name of ['Authorization', 'cookie', 'content-length', 'connection', 'x:y', 'x y', 'a'.repeat(65)])
      expect(problemsOf({ ...EXTERNAL, SLIPWAY_GATEWAY_PASSED_HEADERS: `x-mine,${name}` })).toHaveLength(1);
    const many = Array.from({ length: 21 }, (_, n) => `x-${n}`).join();
    expect(problemsOf({ ...EXTERNAL, SLIPWAY_GATEWAY_PASSED_HEADERS: many })).toHaveLength(1);
  });

  it('accepts origins of pages that may call the gateway, and nothing that is more or less', () => {
    const named = (origins: string) =>
      loadConfig({ ...EXTERNAL, SLIPWAY_GATEWAY_CORS_ORIGINS: origins }, cwd).gateway.corsOrigins;
    expect(named(' https://App.example/, http://localhost:3000,https://app.example:443,')).toEqual([
      'https://app.example',
      'http://localhost:3000',
    ]);
    expect(named('')).toEqual([]);
    for (const origin of ['*', 'null', 'app.example', 'https://app.example/page', 'ftp://app.example'])
      expect(problemsOf({ ...EXTERNAL, SLIPWAY_GATEWAY_CORS_ORIGINS: origin })).toHaveLength(1);
    const many = Array.from({ length: 101 }, (_, n) => `https://app-${n}.example`).join();
    expect(problemsOf({ ...EXTERNAL, SLIPWAY_GATEWAY_CORS_ORIGINS: many })).toHaveLength(1);
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

  it('chooses Redis if REDIS_URL is set, and requires REDIS_URL if Redis is chosen', () => {
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

  it('requires a secret key with an external database', () => {
    expect(problemsOf({ DATABASE_URL: EXTERNAL.DATABASE_URL })[0]).toMatch(/^SLIPWAY_SECRET_KEY is required/);
  });

  it('accepts keys that only open, and shows none of them in a problem', () => {
    const old = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    const { keyRing } = loadConfig({ ...EXTERNAL, SLIPWAY_SECRET_KEYS_OLD: ` ${old.join(', ')},` }, cwd);
    expect(keyRing.all().map(({ secret }) => secret.export())).toEqual([7, 1, 2].map((byte) => Buffer.alloc(32, byte)));
    const problems = problemsOf({ ...EXTERNAL, SLIPWAY_SECRET_KEYS_OLD: `${old[0]},c2hvcnQ=` });
    expect(problems).toEqual([expect.stringMatching(/^SLIPWAY_SECRET_KEYS_OLD must be 32 bytes in base64/)]);
    expect(problems.join()).not.toMatch(/c2hvcnQ|AQEB/);
  });

  it('gives gateways their own login if one is configured', () => {
    expect(loadConfig(EXTERNAL, cwd).database.gatewayUrl).toBe(EXTERNAL.DATABASE_URL);
    const SLIPWAY_GATEWAY_DATABASE_URL = 'postgres://g:p@db/slipway';
    expect(loadConfig({ ...EXTERNAL, SLIPWAY_GATEWAY_DATABASE_URL }, cwd).database).toMatchObject({
      url: EXTERNAL.DATABASE_URL,
      gatewayUrl: SLIPWAY_GATEWAY_DATABASE_URL,
    });
    const stack = { databaseUrl: 'postgres://app@x/y', migrateUrl: 'postgres://owner@x/y', secretKey: KEY };
    expect(loadConfig({}, cwd, { stack }).database.gatewayUrl).toBe(stack.databaseUrl);
    writeStackFile(path.join(cwd, '.slipway'), { ...stack, gatewayUrl: 'postgres://gateway@x/y' });
    expect(loadConfig({}, cwd).database.gatewayUrl).toBe('postgres://gateway@x/y');
  });

  it('requires the identity variables together', () => {
    expect(
      problemsOf({ ...EXTERNAL, SLIPWAY_IDENTITY_ISSUER: 'https://issuer' }).map((problem) => problem.split(' ')[0]),
    ).toEqual(['SLIPWAY_IDENTITY_AUDIENCE', 'SLIPWAY_IDENTITY_JWKS_URL']);
  });

  it('keeps the heads of the audit in the log, unless a file or a bucket is named', () => {
    const anchor = (value: string) => loadConfig({ ...EXTERNAL, SLIPWAY_AUDIT_ANCHOR: value }, cwd).audit.anchor;
    expect(['', 'log', 'file:/var/heads', 's3://bucket/p'].map(anchor)).toEqual([
      'log',
      'log',
      'file:/var/heads',
      's3://bucket/p',
    ]);
    for (const wrong of ['file:heads', 'syslog', 's3://b'])
      expect(() => anchor(wrong)).toThrow('SLIPWAY_AUDIT_ANCHOR must be log, file:/<path> or s3://<bucket>/<prefix>');
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

  it('adds slipway.config.yaml of the working folder to the built-in settings', () => {
    writeFileSync(
      path.join(cwd, 'slipway.config.yaml'),
      'targets: [{name: only, kind: endpoint, allow: []}]\nsecrets: {hub: {env: HUB_TOKEN}}',
    );
    const { operator } = loadConfig(EXTERNAL, cwd, { targets: TARGETS });
    expect(operator.targets.map((target) => target.name)).toEqual(['only', 'local', 'adopted']);
    expect(resolveSecret(operator, 'hub', { HUB_TOKEN: 't' })).toBe('t');
    expect(() => resolveSecret(operator, 'hub', {})).toThrow('HUB_TOKEN is not set');
    expect(() => resolveSecret(operator, 'toString', {})).toThrow('not declared');
    const secrets = { far: { kubernetes: { name: 'hf', key: 'token' } } };
    expect(() => resolveSecret({ targets: [], secrets }, 'far', {})).toThrow('so Slipway cannot read its value');
  });

  it('uses only the file in production, unless the file requests the built-in settings', () => {
    const file = path.join(cwd, 'slipway.config.yaml');
    const namesOf = (env: NodeJS.ProcessEnv) =>
      loadConfig({ ...EXTERNAL, ...env }, cwd, { targets: TARGETS }).operator.targets.map(({ name }) => name);
    const production = { NODE_ENV: 'production' };
    writeFileSync(file, 'targets: [{name: only, kind: endpoint, allow: []}]');
    expect(namesOf(production)).toEqual(['only']);
    expect(loadConfig({ ...EXTERNAL, ...production }, cwd).operator.outbound).toBeUndefined();
    writeFileSync(file, 'defaults: true\ntargets: [{name: only, kind: endpoint, allow: []}]');
    expect(namesOf(production)).toEqual(['only', 'local', 'adopted']);
    writeFileSync(file, 'defaults: false');
    expect(namesOf({})).toEqual([]);
  });

  it('refuses a file that is too large without reading it', () => {
    writeFileSync(path.join(cwd, 'slipway.config.yaml'), ' '.repeat(2 ** 20 + 1));
    expect(problemsOf(EXTERNAL)).toEqual([expect.stringContaining('slipway.config.yaml is larger than 1048576 bytes')]);
  });
});

it('docker/.env.example lists every variable and no others', () => {
  const file = new URL('../../../../docker/.env.example', import.meta.url);
  expect(existsSync(file)).toBe(true);
  const inFile = [...readFileSync(file, 'utf8').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(
    (match) => match[1] as string,
  );
  // Read by compose.yaml or by the AWS client itself, not by Slipway.
  const foreign = [
    'POSTGRES_PASSWORD',
    'REDIS_PASSWORD',
    'SLIPWAY_APP_PASSWORD',
    'SLIPWAY_GATEWAY_PASSWORD',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
  ];
  expect([...new Set(inFile)].filter((name) => !foreign.includes(name)).sort()).toEqual(
    VARIABLES.map((variable) => variable.name).sort(),
  );
});
