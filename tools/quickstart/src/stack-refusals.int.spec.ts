import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DEMONSTRATION, externalPostgres, FOREGROUND, isAlive, LauncherBed, until } from '../test/launcher-bed.js';

jest.setTimeout(120_000);

let bed: LauncherBed;

beforeEach(() => {
  bed = new LauncherBed();
});
afterEach(() => bed.remove());

describe('the launcher', () => {
  it('keeps a port that was requested, and replaces the default one', async () => {
    const squatter = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => squatter.once('listening', resolve));
    const { port } = squatter.address() as net.AddressInfo;
    const launcher = bed.launch({ SLIPWAY_API_PORT: String(port) });
    expect(await launcher.exit).toBe(78);
    expect(launcher.lastLine()).toBe(
      `Slipway cannot start: SLIPWAY_API_PORT: port ${port} is taken by another program. Free it, or set SLIPWAY_API_PORT to another one.`,
    );
    squatter.close();
  });

  it('ends with 78 if the configuration is invalid, before it starts anything', async () => {
    const launcher = bed.launch({ SLIPWAY_LEASE_SECONDS: 'long', NODE_ENV: 'production' });
    expect(await launcher.exit).toBe(78);
    for (const name of ['SLIPWAY_LEASE_SECONDS', 'DATABASE_URL', 'SLIPWAY_SECRET_KEY'])
      expect(launcher.stderr).toContain(`- ${name} `);
    expect(existsSync(bed.home)).toBe(false);
  });

  it('does not hang on a process that refuses its configuration or dies at each start, nor on a failed migration', async () => {
    const refusing = bed.launch({ ...externalPostgres(), STAND_IN_EXIT: 'gateway 78' });
    expect(await refusing.exit).toBe(78);
    expect(refusing.lastLine()).toBe(
      'Slipway cannot start: The gateway failed to start: Slipway gateway cannot start: SLIPWAY_X: it is wrong.',
    );
    const dying = bed.launch({ ...externalPostgres(), STAND_IN_EXIT: 'gateway 1' });
    expect(await dying.exit).toBe(1);
    expect(dying.stderr.match(/gateway \| exited with 1/g)).toHaveLength(4);
    expect(dying.lastLine()).toBe(
      'Slipway cannot start: The gateway failed to start: Slipway gateway cannot start: SLIPWAY_X: it is wrong.',
    );
    const failing = bed.launch({ STAND_IN_EXIT: 'migrate 1' });
    expect(await failing.exit).toBe(1);
    expect(failing.stderr).toContain('The migration failed');
    expect(bed.pids().filter(isAlive)).toEqual([]);
  });
});

describe('a wrong setting is reported in one line with exit status 78, and nothing is started', () => {
  let stranger: Server;
  let address: string;
  beforeEach(async () => {
    stranger = createServer((_, response) => response.end('hi')).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    address = `127.0.0.1:${(stranger.address() as net.AddressInfo).port}`;
  });
  afterEach(() => void stranger.close());

  const MISTAKES: [string, () => Record<string, string>, () => string][] = [
    [
      'a folder that cannot be created',
      () => ({ SLIPWAY_HOME: '/proc/x' }),
      () =>
        'SLIPWAY_HOME: cannot write to /proc/x (the system does not allow creating it). Set SLIPWAY_HOME to a writable folder.',
    ],
    [
      'an address of another machine',
      () => ({ SLIPWAY_HOST: '192.0.2.1' }),
      () =>
        'SLIPWAY_HOST: cannot listen on 192.0.2.1 (EADDRNOTAVAIL). Set SLIPWAY_HOST to an address of this machine, e.g. 127.0.0.1.',
    ],
    [
      'a database on an unknown host',
      () => ({ DATABASE_URL: 'postgres://u:p@nowhere..example/x' }),
      () => 'DATABASE_URL: the host of nowhere..example:5432 is unknown. Correct DATABASE_URL.',
    ],
    [
      'a database server that is not Postgres',
      () => ({ DATABASE_URL: `postgres://u:p@${address}/x` }),
      () => `DATABASE_URL: the server at ${address} is not Postgres. Correct DATABASE_URL.`,
    ],
    [
      'a Redis server that is not Redis',
      () => ({ REDIS_URL: `redis://${address}` }),
      () => `REDIS_URL: the server at ${address} is not Redis. Correct REDIS_URL.`,
    ],
  ];

  it.each(MISTAKES)('%s', async (_, env, message) => {
    for (const kind of [FOREGROUND, DEMONSTRATION]) {
      const launcher = bed.launch(env(), kind);
      expect(await launcher.exit).toBe(78);
      const said = `${launcher.stdout}${launcher.stderr}`;
      expect(said).toContain(
        `${kind === FOREGROUND ? 'Slipway cannot start' : 'The quickstart failed'}: ${message()}\n`,
      );
      expect(said).not.toMatch(/\n\s+at /);
      expect(bed.notes()).toEqual([]);
    }
  });

  it('an address that is not a URL', async () => {
    const launcher = bed.launch({ DATABASE_URL: 'localhost/slipway', REDIS_URL: 'localhost:6379' });
    expect(await launcher.exit).toBe(78);
    expect(launcher.stderr).toContain(
      '  - DATABASE_URL must be a URL with scheme postgres or postgresql, as in postgres://user:password@host:5432/slipway',
    );
    expect(launcher.stderr).toContain(
      '  - REDIS_URL must be a URL with scheme redis or rediss, as in redis://:password@host:6379',
    );
    expect(launcher.stderr).not.toMatch(/\n\s+at /);
  });

  it('waits for a database that does not answer yet, reports it, and stops at a signal', async () => {
    stranger.close();
    const launcher = bed.launch({ DATABASE_URL: `postgres://u:p@${address}/x` });
    await until(
      () => launcher.stderr.includes('Waiting for it for up to 20 s'),
      () => launcher.stderr,
    );
    expect(launcher.stderr).toContain(
      `slipway | DATABASE_URL: nothing listens on ${address} (connection refused). Start the server there, or correct DATABASE_URL. Waiting for it`,
    );
    launcher.child.kill('SIGINT');
    expect(await launcher.exit).toBe(0);
  });
});
