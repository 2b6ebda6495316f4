import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { ALL_VARIABLES, PROCESSES } from '@slipway/platform-config';
import { insert, servicesOf, variablesIn } from './compose.js';

const DOCKER = path.resolve(import.meta.dirname, '../../../docker');
const FILE = path.join(DOCKER, 'compose.yaml');
const EXAMPLE = readFileSync(path.join(DOCKER, '.env.example'), 'utf8');
const REQUIRED = {
  SLIPWAY_SECRET_KEY: 'key',
  SLIPWAY_BOOTSTRAP_TOKEN: 'token',
  POSTGRES_PASSWORD: 'p',
  SLIPWAY_APP_PASSWORD: 'a',
  SLIPWAY_GATEWAY_PASSWORD: 'g',
  REDIS_PASSWORD: 'r',
};

it.each([
  ['a ${B} c', 'a b c'],
  ['${NONE:-x${B}y}', 'xby'],
  ['${EMPTY:-x}', 'x'],
  ['${B:?missing}', 'b'],
  ['$$HOME', '$HOME'],
  ['${NONE:-http://${B}:${NONE:-1}}', 'http://b:1'],
])('%s is %s', (text, expected) => {
  expect(insert(text, { B: 'b', EMPTY: '' })).toBe(expected);
});

it('a missing variable that is required, and an expression that Compose has and this code does not know, are errors', () => {
  expect(() => insert('${NONE:?see .env.example}', {})).toThrow('NONE: see .env.example');
  expect(() => insert('${B+x}', { B: 'b' })).toThrow('unknown expression: B+x');
});

it('each process gets its own login and only variables that are set', () => {
  const { api, gateway, migrate, worker } = servicesOf(FILE, REQUIRED);
  expect(api!.environment['DATABASE_URL']).toBe('postgres://slipway_app:a@postgres:5432/slipway');
  expect(gateway!.environment['DATABASE_URL']).toBe('postgres://slipway_gateway_app:g@postgres:5432/slipway');
  expect(worker!.environment).toMatchObject({ QUEUE_BACKEND: 'redis', REDIS_URL: 'redis://:r@redis:6379' });
  expect(migrate!.environment['SLIPWAY_MIGRATE_DATABASE_URL']).toBe('postgres://slipway:p@postgres:5432/slipway');
  expect(api!.environment).not.toHaveProperty('HTTP_PROXY');
  expect([api!.replicas, worker!.replicas, gateway!.replicas]).toEqual([2, 2, 2]);
});

describe('a variable of .env', () => {
  /** Passwords reach processes as a part of URLs. */
  const LOGINS: Record<string, string[]> = {
    POSTGRES_PASSWORD: ['migrate', 'postgres', 'tools'],
    SLIPWAY_APP_PASSWORD: ['api', 'migrate', 'postgres', 'tools', 'worker'],
    SLIPWAY_GATEWAY_PASSWORD: ['gateway', 'migrate', 'tools'],
    REDIS_PASSWORD: ['redis', 'worker'],
  };
  /** The host publishes the containers at these. The default of SLIPWAY_GATEWAY_PUBLIC_URL has the port. */
  const PUBLISHED: Record<string, string[]> = { SLIPWAY_HOST: [], SLIPWAY_API_PORT: [], SLIPWAY_GATEWAY_PORT: ['api'] };
  const [offered, fixed] = EXAMPLE.split(/^# ---- Fixed by the images/m).map(namesIn);

  function namesIn(text: string): string[] {
    return [...new Set([...text.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name!))];
  }

  const before = servicesOf(FILE, REQUIRED);
  /** The services whose environment has another value if the variable is set. */
  function receiversOf(name: string): string[] {
    return Object.entries(servicesOf(FILE, { ...REQUIRED, [name]: 'another' }))
      .filter(([service, { environment }]) => !isDeepStrictEqual(environment, before[service]!.environment))
      .map(([service]) => service)
      .sort();
  }

  it.each(offered!)('%s reaches the processes that read it, and no other service', (name) => {
    const row = ALL_VARIABLES.find((variable) => variable.name === name);
    // A gateway has another login than api and worker.
    const readers = row?.processes.filter((process) => name !== 'DATABASE_URL' || process !== 'gateway') ?? [];
    expect(receiversOf(name)).toEqual(LOGINS[name] ?? PUBLISHED[name] ?? readers.sort());
  });

  it.each(fixed!)('%s changes nothing, because the images or compose.yaml set it', (name) => {
    expect(receiversOf(name)).toEqual([]);
  });

  it('is passed on under its own name, with its value', () => {
    const names = offered!.filter((name) => !LOGINS[name] && !PUBLISHED[name]);
    const services = servicesOf(FILE, { ...REQUIRED, ...Object.fromEntries(names.map((name) => [name, `${name}!`])) });
    for (const { name, processes } of ALL_VARIABLES.filter((variable) => names.includes(variable.name)))
      for (const process of processes) {
        // compose.yaml puts the login of the gateways in DATABASE_URL, so that a gateway knows no other.
        const isLogin = process === 'gateway' && /^(SLIPWAY_GATEWAY_)?DATABASE_URL$/.test(name);
        const [key, value] = isLogin ? ['DATABASE_URL', 'SLIPWAY_GATEWAY_DATABASE_URL!'] : [name, `${name}!`];
        expect([process, name, services[process]!.environment[key]]).toEqual([process, name, value]);
      }
  });

  it('the file that a reader copies has a line without a value for each required one', () => {
    expect(Object.keys(variablesIn(EXAMPLE)).sort()).toEqual(Object.keys(REQUIRED).sort());
    expect(PROCESSES.filter((process) => servicesOf(FILE, REQUIRED)[process] === undefined)).toEqual([]);
  });
});

describe('volumes', () => {
  const services = servicesOf(FILE, REQUIRED);
  const homeOf = (name: string) => services[name]!.mounts.find(({ target }) => target === '/var/lib/slipway');

  it('each gateway has its own, and api and worker share one', () => {
    expect(homeOf('gateway')).toEqual({ target: '/var/lib/slipway', isReadOnly: false });
    expect(homeOf('api')?.source).toBe('workspaces');
    expect(homeOf('worker')).toEqual(homeOf('api'));
  });

  it('files next to compose.yaml are read-only', () => {
    const files = Object.values(services).flatMap(({ mounts }) =>
      mounts.filter(({ source }) => source?.startsWith('./')),
    );
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter(({ isReadOnly }) => !isReadOnly)).toEqual([]);
  });
});
