import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import {
  ALL_VARIABLES,
  environmentOf,
  foreignEnvironment,
  loadConfig,
  OperatorConfigError,
  parseOperatorConfig,
  PROCESSES,
  resolveSecret,
  systemEnvironment,
  VARIABLES,
  type ProcessName,
  type SecretConfig,
} from '../index.js';

const at = (file: string): string => readFileSync(new URL(`../../../../../${file}`, import.meta.url), 'utf8');
const rowsOf = (process: ProcessName): string[] =>
  ALL_VARIABLES.filter(({ processes }) => processes.includes(process))
    .map(({ name }) => name)
    .sort();

const EXAMPLE = at('docker/.env.example');
const NAME = /^#? ?([A-Z][A-Z0-9_]+)=/gm;
const namesIn = (text: string): string[] => [...text.matchAll(NAME)].map(([, name]) => name!);
const FIXED = namesIn(EXAMPLE.split(/^# ---- Fixed by the images/m)[1] ?? '');

/** Passwords of the databases in compose.yaml, which become part of the URLs of processes. */
const OF_COMPOSE = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'SLIPWAY_APP_PASSWORD', 'SLIPWAY_GATEWAY_PASSWORD'];
/** compose.yaml publishes the containers at this address and these ports. */
const PUBLISHED = ['SLIPWAY_HOST', 'SLIPWAY_API_PORT', 'SLIPWAY_GATEWAY_PORT'];

interface Compose {
  services: Record<string, { environment?: Record<string, string | null>; ports?: string[] }>;
}
const compose = parse(at('docker/compose.yaml'), { merge: true }) as Compose;

describe('the environment of a process', () => {
  it('every variable belongs to a process, and a name has one row', () => {
    expect(ALL_VARIABLES.filter(({ processes }) => processes.length === 0)).toEqual([]);
    expect(new Set(ALL_VARIABLES.map(({ name }) => name)).size).toBe(ALL_VARIABLES.length);
  });

  it.each(PROCESSES)('has what the table lists for %s, and nothing else that Slipway knows', (process) => {
    const all = Object.fromEntries([...ALL_VARIABLES, { name: 'PATH' }].map(({ name }) => [name, 'x']));
    const own = environmentOf(process, { ...all, SLIPWAY_TOKEN: 'x', SLIPWAY_URL: 'x', HUB_TOKEN: 'x' }, ['HUB_TOKEN']);
    const sends = process === 'api' || process === 'worker';
    expect(Object.keys(own).sort()).toEqual([...rowsOf(process), 'PATH', ...(sends ? ['HUB_TOKEN'] : [])].sort());
  });

  it('other credentials of AWS go the same way as its keys', () => {
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: 'x', AWS_PROFILE: 'x' };
    expect(environmentOf('gateway', env, [])).toEqual({});
    expect(environmentOf('worker', env, [])).toEqual(env);
  });
});

describe('a process', () => {
  const key = Buffer.alloc(32, 1).toString('base64');
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://db/slipway',
    SLIPWAY_SECRET_KEY: key,
    SLIPWAY_MIGRATE_DATABASE_URL: 'postgres://owner@owner-db:6543/slipway',
    QUEUE_BACKEND: 'redis',
    REDIS_URL: 'redis://:password@redis:6380',
    SLIPWAY_BOOTSTRAP_TOKEN: `slw_first_${'a'.repeat(40)}`,
    SLIPWAY_S3_ENDPOINT: 'http://s3:9000',
    SLIPWAY_AUDIT_ANCHOR: 's3://bucket/anchors',
    SLIPWAY_GATEWAY_RATE_LIMIT: '7',
  };
  const of = (process: ProcessName, more: object = {}) => loadConfig({ ...env, ...more }, tmpdir(), { process });

  it('takes nothing from variables of other processes', () => {
    const gateway = of('gateway');
    expect(gateway.queue.redisUrl).toBeUndefined();
    expect(gateway.bootstrapToken).toBeUndefined();
    expect(gateway.upload.s3.endpoint).toBeUndefined();
    expect(gateway.audit.anchor).toBe('log');
    expect(gateway.database.migrateUrl).toBe(env.DATABASE_URL);
    expect(gateway.gateway.limits.requestsPerMinute).toBe(7);
    const worker = of('worker');
    expect(worker.queue.redisUrl).toBe(env.REDIS_URL);
    expect(worker.bootstrapToken).toBeUndefined();
    expect(worker.audit.anchor).toBe(env.SLIPWAY_AUDIT_ANCHOR);
    expect(of('migrate').database.migrateUrl).toBe(env.SLIPWAY_MIGRATE_DATABASE_URL);
  });

  it('does not complain about variables of other processes', () => {
    expect(() => of('gateway', { SLIPWAY_BOOTSTRAP_TOKEN: 'x', REDIS_URL: '' })).not.toThrow();
    expect(() => of('api', { SLIPWAY_BOOTSTRAP_TOKEN: 'x' })).toThrow('SLIPWAY_BOOTSTRAP_TOKEN');
    expect(() => of('worker', { REDIS_URL: '' })).toThrow('REDIS_URL is required');
  });

  it('never calls the ports of the other processes and their servers, if it is given their addresses', () => {
    expect(of('gateway').ownPorts).toEqual(expect.arrayContaining([6380, 6543, 7070, 9000]));
  });

  it('needs the key unless it migrates, and then has none', () => {
    for (const process of PROCESSES.filter((one) => one !== 'migrate'))
      expect(() => of(process, { SLIPWAY_SECRET_KEY: '' })).toThrow('SLIPWAY_SECRET_KEY is required');
    const migrating = of('migrate', { SLIPWAY_SECRET_KEY: '' });
    expect(() => migrating.keyRing).toThrow('SLIPWAY_SECRET_KEY');
  });
});

it.each(['SLIPWAY_SECRET_KEY', 'DATABASE_URL', 'REDIS_URL', 'SLIPWAY_TOKEN', 'SLIPWAY_METRICS_TOKEN'])(
  'no secret of the operator is %s, which engines and servers would get',
  (name) => {
    const read = () => parseOperatorConfig(`secrets: {stolen: {env: ${name}}}`);
    expect(read).toThrow(OperatorConfigError);
    expect(read).toThrow(name);
  },
);

describe('a secret of the operator with a key or login of Slipway', () => {
  const key = Buffer.alloc(32, 1).toString('base64');
  const old = Buffer.alloc(32, 2).toString('base64');
  const own = {
    SLIPWAY_SECRET_KEY: key,
    SLIPWAY_SECRET_KEYS_OLD: `${Buffer.alloc(32, 3).toString('base64')},${old}`,
    DATABASE_URL: 'postgres://slipway:p%40ssword@db/slipway',
  };
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'slipway-own-'));
    mkdirSync(path.join(home, 'run'));
    for (const name of ['secret-key', 'bootstrap-token', 'run/stack.json', 'hub'])
      writeFileSync(path.join(home, name), 'x');
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const valueOf = (source: SecretConfig, env: NodeJS.ProcessEnv = {}) =>
    resolveSecret({ targets: [], secrets: { stolen: source } }, 'stolen', { ...own, SLIPWAY_HOME: home, ...env });

  it.each([
    ['the key', key, 'SLIPWAY_SECRET_KEY'],
    ['an older key', old, 'SLIPWAY_SECRET_KEYS_OLD'],
    ['a login', own.DATABASE_URL, 'DATABASE_URL'],
    ['the password of a login', 'p@ssword', 'DATABASE_URL'],
    ['an environment', `PATH=/bin\0SLIPWAY_SECRET_KEY=${key}\0`, 'SLIPWAY_SECRET_KEY'],
  ])('has no value if another variable or a file contains %s', (_what, value, name) => {
    expect(() => valueOf({ env: 'OTHER' }, { OTHER: value })).toThrow(`secret stolen contains the value of ${name}`);
    writeFileSync(path.join(home, 'hub'), value);
    expect(() => valueOf({ file: path.join(home, 'hub') })).toThrow(name);
  });

  it('has no value if its file is one of the embedded stack, also behind a link', () => {
    symlinkSync(home, `${home}/self`);
    symlinkSync(path.join(home, 'secret-key'), path.join(home, 'link'));
    for (const file of [
      'secret-key',
      'bootstrap-token',
      'run/stack.json',
      'self/secret-key',
      'run/../secret-key',
      'link',
    ])
      expect(() => valueOf({ file: path.join(home, file) })).toThrow('which Slipway uses itself');
    expect(valueOf({ file: path.join(home, 'hub') })).toBe('x');
  });
});

it('a secret is never read from a pipe, a device or a folder, and not without a limit', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'slipway-secret-'));
  const valueOf = (file: string) => resolveSecret({ targets: [], secrets: { hub: { file } } }, 'hub', {});
  try {
    const [pipe, large] = [path.join(folder, 'pipe'), path.join(folder, 'large')];
    execFileSync('mkfifo', [pipe]);
    writeFileSync(large, 'x'.repeat(64 * 1024 + 1));
    for (const file of [pipe, '/dev/zero', folder])
      expect(() => valueOf(file)).toThrow('the file of secret hub is not a regular file');
    expect(() => valueOf(large)).toThrow('is larger than 65536 bytes');
    expect(() => valueOf(path.join(folder, 'none'))).toThrow('cannot be read from its file (ENOENT)');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('a child of a process inherits no key and no login of Slipway', () => {
  const before = { ...process.env };
  try {
    for (const { name } of VARIABLES.filter(({ secret }) => secret)) process.env[name] = 'secret';
    process.env['SLIPWAY_TOKEN'] = 'secret';
    process.env['KUBECONFIG'] = '/etc/kube';
    process.env['HTTPS_PROXY'] = 'http://proxy:3128';
    process.env['NODE_ENV'] = 'production';
    process.env['SLIPWAY_HOME'] = '/srv';
    const foreign = foreignEnvironment();
    expect(foreign['KUBECONFIG']).toBe('/etc/kube');
    // A plugin of a kubeconfig may need the proxy to get a token.
    expect([foreign['HTTPS_PROXY'], foreign['NODE_ENV']]).toEqual(['http://proxy:3128', 'production']);
    expect(foreign).not.toHaveProperty('SLIPWAY_HOME');
    expect(Object.entries(foreign).filter(([, value]) => value === 'secret')).toEqual([]);
    expect(Object.keys(systemEnvironment()).sort()).toEqual(['LC_ALL', 'PATH']);
  } finally {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

describe('compose.yaml', () => {
  it.each(PROCESSES)('gives %s the variables of its rows', (process) => {
    const given = Object.keys(compose.services[process]?.environment ?? {}).sort();
    // compose.yaml puts the gateway's login in DATABASE_URL, so that the gateway knows no other.
    const renamed = process === 'gateway' ? ['SLIPWAY_GATEWAY_DATABASE_URL'] : [];
    const set = process === 'api' || process === 'worker' || process === 'gateway' ? ['SLIPWAY_METRICS_PORT'] : [];
    const left = rowsOf(process).filter((name) => ![...FIXED, ...PUBLISHED, ...renamed].includes(name));
    expect(given).toEqual([...left, ...set].sort());
  });

  it('gives a gateway no login of others, whatever is left out of .env', () => {
    const namesOf = (value: unknown) =>
      [...JSON.stringify(value).matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)].map(([, name]) => name!);
    const { environment } = compose.services['gateway']!;
    expect(namesOf(environment).sort()).toEqual([
      'SLIPWAY_GATEWAY_DATABASE_URL',
      'SLIPWAY_GATEWAY_PASSWORD',
      'SLIPWAY_SECRET_KEY',
      'SLIPWAY_TRUSTED_PROXIES',
    ]);
    // Without a password of its own, the gateway does not start with that of another.
    expect(environment!['DATABASE_URL']).toContain('${SLIPWAY_GATEWAY_PASSWORD:?');
    for (const name of ['api', 'worker', 'postgres', 'redis'])
      expect(namesOf(compose.services[name]!.environment)).not.toContain('SLIPWAY_GATEWAY_PASSWORD');
  });

  it('gives its databases nothing of Slipway but their own passwords', () => {
    const others = Object.entries(compose.services).filter(([name]) => !PROCESSES.includes(name as ProcessName));
    for (const [name, { environment = {} }] of others)
      expect([name, Object.keys(environment).filter((one) => ALL_VARIABLES.some((row) => row.name === one))]).toEqual([
        name,
        [],
      ]);
  });

  it('uses every variable of .env.example that is not fixed, and only such', () => {
    const text = at('docker/compose.yaml');
    const passedOn = Object.values(compose.services).flatMap(({ environment = {} }) =>
      Object.entries(environment).flatMap(([name, value]) => (value === null ? [name] : [])),
    );
    const used = new Set([...passedOn, ...[...text.matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)].map(([, name]) => name!)]);
    const offered = namesIn(EXAMPLE).filter((name) => !FIXED.includes(name));
    expect([...used].sort()).toEqual([...new Set(offered)].sort());
    expect(offered).toEqual(expect.arrayContaining(OF_COMPOSE));
    expect(FIXED).toContain('NODE_ENV');
  });
});

it('the images set nothing that their process does not read', async () => {
  const { targetsIn, valuesOf } = (await import(
    new URL('../../../../../docker/dockerfile-rules.mjs', import.meta.url).pathname
  )) as { targetsIn(text: string): Map<string, object[]>; valuesOf(name: string, instructions: object[]): string[] };
  const targets = targetsIn(at('docker/Dockerfile'));
  for (const process of ['api', 'worker', 'gateway'] as const) {
    const lines = valuesOf('ENV', targets.get(process)!).join(' ');
    const set = [...lines.matchAll(/([A-Z][A-Z0-9_]+)=/g)].map(([, name]) => name!);
    expect(set).toContain('NODE_ENV');
    expect([process, set.filter((name) => !rowsOf(process).includes(name))]).toEqual([process, []]);
  }
});

it('docs/configuration.md lists the processes of each variable', () => {
  const rows = [...at('docs/configuration.md').matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|((?: ✓? ?\|){5})$/gm)];
  const listed = rows.map(([, name, cells]) => [
    name,
    cells!
      .split('|')
      .slice(0, 5)
      .map((cell) => cell.trim() === '✓'),
  ]);
  const expected = ALL_VARIABLES.map(({ name, processes }) => [name, PROCESSES.map((one) => processes.includes(one))]);
  expect(listed).toEqual(expected.sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1)));
});
