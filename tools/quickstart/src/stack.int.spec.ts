import { spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { childEnvironment, readStackFile } from '@slipway/platform-config';
import pg from 'pg';
import { identify } from './process-identity.js';

jest.setTimeout(120_000);

// The launcher under test is a process of its own, which gets signals, so it runs what the build made. The three
// processes are stand-ins that answer /readyz, say ready, and write down what they are told.
const built = (name: string): string => new URL(`../dist/${name}.js`, import.meta.url).href;
const FOREGROUND = { module: built('foreground'), call: 'runInForeground' };
const DEMONSTRATION = { module: built('demonstration'), call: 'runDemonstration' };
const standIn = fileURLToPath(new URL('../test/stand-in.mjs', import.meta.url));

let folder: string;
let home: string;
const launchers: Launcher[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-stack-'));
  chmodSync(folder, 0o755);
  home = path.join(folder, 'home');
  for (const name of ['api', 'worker', 'gateway', 'migrate']) copyFileSync(standIn, path.join(folder, `${name}.mjs`));
});

afterEach(async () => {
  for (const launcher of launchers.splice(0)) await launcher.end();
  rmSync(folder, { recursive: true, force: true });
});

class Launcher {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly exit: Promise<number | null>;

  constructor(env: Record<string, string | undefined> = {}, { module, call } = FOREGROUND, wrapped?: string[]) {
    const entries = Object.fromEntries(
      ['api', 'worker', 'gateway', 'migrate'].map((name) => [name, path.join(folder, `${name}.mjs`)]),
    );
    const script = `const m = await import(${JSON.stringify(module)}); await m.${call}({ entries: ${JSON.stringify(entries)}, isOnce: true });`;
    const file = path.join(folder, 'launcher.mjs');
    writeFileSync(file, script);
    const [program = process.execPath, ...args] = wrapped ?? [];
    this.child = spawn(program, wrapped ? args : [file], {
      cwd: folder,
      env: childEnvironment({
        SLIPWAY_HOME: home,
        SLIPWAY_API_PORT: '0',
        SLIPWAY_GATEWAY_PORT: '0',
        DATABASE_URL: undefined,
        REDIS_URL: undefined,
        NODE_ENV: undefined,
        NODE_OPTIONS: undefined,
        npm_lifecycle_event: undefined,
        STAND_IN_FOLDER: folder,
        ...env,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr?.on('data', (chunk) => (this.stderr += chunk));
    this.exit = new Promise((resolve) => this.child.once('exit', resolve));
    launchers.push(this);
  }

  async ready(): Promise<{ api: string; gateway: string }> {
    await until(
      () => this.stdout.includes('\n') || this.child.exitCode !== null,
      () => this.stderr,
    );
    const match = /^slipway ready api=(\S+) gateway=(\S+)\n$/.exec(this.stdout);
    if (!match) throw new Error(`not the ready line: ${JSON.stringify(this.stdout)}\n${this.stderr}`);
    return { api: match[1] as string, gateway: match[2] as string };
  }

  /** The last line that it wrote itself. */
  told(): string | undefined {
    return this.stderr.trim().split('\n').at(-1);
  }

  async end(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    await this.exit;
  }
}

const until = async (condition: () => boolean, explain: () => string = () => ''): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`did not come to be\n${explain()}`);
    await delay(20);
  }
};

/** What the stand-ins wrote down: `<name> <what>` lines. */
const notes = (): string[] =>
  existsSync(path.join(folder, 'notes')) ? readFileSync(path.join(folder, 'notes'), 'utf8').trim().split('\n') : [];
/** That these lines were written, and in this order. */
const expectInOrder = (...wanted: string[]): void => {
  const lines = notes();
  expect(lines).toEqual(expect.arrayContaining(wanted));
  const places = wanted.map((line) => lines.indexOf(line));
  expect(places).toEqual([...places].sort((a, b) => a - b));
};
const pidOf = (name: string): number =>
  Number(
    notes()
      .findLast((line) => line.startsWith(`${name} pid `))
      ?.split(' ')[2],
  );
const started = (name: string): number => notes().filter((line) => line.startsWith(`${name} pid `)).length;
const isAlive = (pid: number): boolean => identify(pid) !== undefined;
const databaseAnswers = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};

describe('the launcher', () => {
  it('migrates, starts all three, says so in one line, and stops in order', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    expect(notes()[0]).toBe('migrate owner slipway_owner');
    const url = readStackFile(home)?.databaseUrl ?? '';
    expect(await databaseAnswers(url)).toBe(true);

    const token = readFileSync(path.join(home, 'bootstrap-token'), 'utf8').trim();
    expect(token).toMatch(/^slw_[a-z0-9]{12}_[0-9a-f]{64}$/);
    expect(launcher.stderr.split(token)).toHaveLength(2);
    expect(notes()).toContain(`api token ${token}`);
    expect(notes()).toContain('worker token none');
    for (const file of ['bootstrap-token', 'secret-key', 'run/stack.json'])
      expect(statSync(path.join(home, file)).mode & 0o777).toBe(0o600);

    const pids = ['api', 'worker', 'gateway'].map(pidOf);
    launcher.child.kill('SIGINT');
    launcher.child.kill('SIGINT');
    expect(await launcher.exit).toBe(0);
    expect(
      notes()
        .filter((line) => line.startsWith('worker '))
        .slice(-2),
    ).toEqual(['worker message slipway:stop-engines', 'worker signal SIGTERM']);
    // The worker is stopped last: requests need its engines until they are answered.
    for (const name of ['api', 'gateway']) expectInOrder(`${name} signal SIGTERM`, 'worker signal SIGTERM');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await databaseAnswers(url)).toBe(false);
    expect(readStackFile(home)).toBeUndefined();
    expect(launcher.stdout.split('\n')).toHaveLength(2);
  });

  it('10.3: tells each process the metrics ports of the others', async () => {
    const launcher = new Launcher({ SLIPWAY_METRICS_PORT: '29090', SLIPWAY_OWN_PORTS: '29000' });
    await launcher.ready();
    for (const [index, name] of ['api', 'worker', 'gateway'].entries())
      expect(notes()).toContain(`${name} ports ${29090 + index} 29000,29090,29091,29092`);
    await launcher.end();
  });

  it('starts a dead process again, and Postgres too', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    process.kill(pidOf('worker'), 'SIGKILL');
    await until(() => started('worker') === 2);
    expect(launcher.stderr).toContain('worker | ended with SIGKILL; started again in 0.1 s');

    const url = readStackFile(home)?.databaseUrl ?? '';
    process.kill(
      Number(readFileSync(path.join(home, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
      'SIGKILL',
    );
    await until(() => launcher.stderr.includes('postgres ended'));
    const deadline = Date.now() + 30_000;
    while (!(await databaseAnswers(url)) && Date.now() < deadline) await delay(50);
    expect(await databaseAnswers(url)).toBe(true);
    launcher.child.kill('SIGTERM');
    expect(await launcher.exit).toBe(0);
  });

  it('killed, leaves nothing that breaks the next start on the same ports', async () => {
    const first = new Launcher();
    const { api, gateway } = await first.ready();
    const pids = ['api', 'worker', 'gateway'].map(pidOf);
    first.child.kill('SIGKILL');
    await first.exit;

    const second = new Launcher({ SLIPWAY_API_PORT: new URL(api).port, SLIPWAY_GATEWAY_PORT: new URL(gateway).port });
    expect(await second.ready()).toEqual({ api, gateway });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(second.stderr).not.toContain('bootstrap token');
  });

  it('refuses a second stack in the same home', async () => {
    await new Launcher().ready();
    const second = new Launcher();
    expect(await second.exit).toBe(1);
    expect(second.stderr).toContain('Slipway already runs in');
  });

  it('keeps a port that was asked for, and exchanges the default one', async () => {
    const squatter = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => squatter.once('listening', resolve));
    const { port } = squatter.address() as net.AddressInfo;
    const launcher = new Launcher({ SLIPWAY_API_PORT: String(port) });
    expect(await launcher.exit).toBe(78);
    expect(launcher.told()).toBe(
      `Slipway cannot start: SLIPWAY_API_PORT: port ${port} is taken by another program. Free it, or set SLIPWAY_API_PORT to another one.`,
    );
    squatter.close();
  });

  it('ends with 78 where the configuration is wrong, before it starts anything', async () => {
    const launcher = new Launcher({ SLIPWAY_LEASE_SECONDS: 'long', NODE_ENV: 'production' });
    expect(await launcher.exit).toBe(78);
    for (const name of ['SLIPWAY_LEASE_SECONDS', 'DATABASE_URL', 'SLIPWAY_SECRET_KEY'])
      expect(launcher.stderr).toContain(`- ${name} `);
    expect(existsSync(home)).toBe(false);
  });

  it('does not hang on a process that refuses its configuration or dies at each start, nor on a failed migration', async () => {
    const refusing = new Launcher({ STAND_IN_EXIT: 'gateway 78' });
    expect(await refusing.exit).toBe(78);
    expect(refusing.told()).toBe(
      'Slipway cannot start: The gateway does not start: Slipway gateway cannot start: SLIPWAY_X: it is wrong.',
    );
    const dying = new Launcher({ STAND_IN_EXIT: 'gateway 1' });
    expect(await dying.exit).toBe(1);
    expect(dying.stderr.match(/gateway \| ended with 1/g)).toHaveLength(4);
    expect(dying.told()).toBe(
      'Slipway cannot start: The gateway does not start: Slipway gateway cannot start: SLIPWAY_X: it is wrong.',
    );
    const failing = new Launcher({ STAND_IN_EXIT: 'migrate 1' });
    expect(await failing.exit).toBe(1);
    expect(failing.stderr).toContain('The migration failed');
    expect(['api', 'worker', 'gateway'].map(pidOf).filter(isAlive)).toEqual([]);
  });

  it('starts a process again that served before, also when it refuses its configuration', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    process.kill(pidOf('gateway'), 'SIGUSR2');
    await until(
      () => started('gateway') === 2,
      () => launcher.stderr,
    );
    expect(launcher.stderr).toContain('gateway | ended with 78; started again in 5 s');
  });

  it('keeps its output in files of the home, and says where', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    const file = path.join(home, 'logs', 'slipway.log');
    expect(launcher.stderr).toContain(`slipway | this output is kept in ${file}\n`);
    process.kill(pidOf('worker'), 'SIGKILL');
    await until(() => readFileSync(file, 'utf8').includes('worker | ended with SIGKILL'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('without a terminal passes SIGHUP on, and goes on', async () => {
    const launcher = new Launcher();
    await launcher.ready();
    launcher.child.kill('SIGHUP');
    const wanted = ['api', 'worker', 'gateway'].map((name) => `${name} signal SIGHUP`);
    await until(() => wanted.every((line) => notes().includes(line)));
    launcher.child.kill('SIGTERM');
    expect(await launcher.exit).toBe(0);
  });

  it('ends with everything when its terminal is closed', async () => {
    // `script` is the terminal, and is closed as a window is.
    const command = `${process.execPath} ${path.join(folder, 'launcher.mjs')}`;
    const terminal = new Launcher({}, FOREGROUND, ['script', '-qec', command, '/dev/null']);
    await until(
      () => terminal.stdout.includes('slipway ready'),
      () => terminal.stdout,
    );
    const pids = ['api', 'worker', 'gateway'].map(pidOf);
    const url = readStackFile(home)?.databaseUrl ?? '';
    terminal.child.kill('SIGKILL');
    await until(() => readStackFile(home) === undefined && !existsSync(path.join(home, 'run', 'processes.json')));
    expect(notes()).toContain('worker message slipway:stop-engines');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await databaseAnswers(url)).toBe(false);
  });
});

describe('what a newcomer mistypes is told in one line, with 78, and nothing was started', () => {
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
      'a folder that nobody can make',
      () => ({ SLIPWAY_HOME: '/proc/x' }),
      () =>
        'SLIPWAY_HOME: cannot write in /proc/x (the system refuses to make it). Set SLIPWAY_HOME to a folder that you may write.',
    ],
    [
      'an address that is not of this machine',
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
      'a database that is none',
      () => ({ DATABASE_URL: `postgres://u:p@${address}/x` }),
      () => `DATABASE_URL: what answers at ${address} is no Postgres. Correct DATABASE_URL.`,
    ],
    [
      'a Redis that is none',
      () => ({ REDIS_URL: `redis://${address}` }),
      () => `REDIS_URL: what answers at ${address} is no Redis. Correct REDIS_URL.`,
    ],
  ];

  it.each(MISTAKES)('%s', async (_, env, message) => {
    for (const kind of [FOREGROUND, DEMONSTRATION]) {
      const launcher = new Launcher(env(), kind);
      expect(await launcher.exit).toBe(78);
      const said = `${launcher.stdout}${launcher.stderr}`;
      expect(said).toContain(
        `${kind === FOREGROUND ? 'Slipway cannot start' : 'The quickstart failed'}: ${message()}\n`,
      );
      expect(said).not.toMatch(/\n\s+at /);
      expect(notes()).toEqual([]);
    }
  });

  it('an address that is no URL', async () => {
    const launcher = new Launcher({ DATABASE_URL: 'localhost/slipway', REDIS_URL: 'localhost:6379' });
    expect(await launcher.exit).toBe(78);
    expect(launcher.stderr).toContain(
      '  - DATABASE_URL must be a URL with scheme postgres or postgresql, as in postgres://user:password@host:5432/slipway',
    );
    expect(launcher.stderr).toContain(
      '  - REDIS_URL must be a URL with scheme redis or rediss, as in redis://:password@host:6379',
    );
    expect(launcher.stderr).not.toMatch(/\n\s+at /);
  });

  it('waits for a database that does not answer yet, says so, and stops when it is told to', async () => {
    stranger.close();
    const launcher = new Launcher({ DATABASE_URL: `postgres://u:p@${address}/x` });
    await until(
      () => launcher.stderr.includes('Waiting for it for up to 20 s'),
      () => launcher.stderr,
    );
    expect(launcher.stderr).toContain(
      `slipway | DATABASE_URL: nobody listens on ${address} (connection refused). Start it there, or correct DATABASE_URL. Waiting for it`,
    );
    launcher.child.kill('SIGINT');
    expect(await launcher.exit).toBe(0);
  });
});

describe('the demonstration, where something goes wrong, says what and where to read on, and leaves nothing', () => {
  const failed = async (env: Record<string, string>): Promise<string> => {
    const launcher = new Launcher(env, DEMONSTRATION);
    expect(await launcher.exit).toBe(1);
    expect(launcher.stdout).not.toMatch(/\n\s+at /);
    expect(['api', 'worker', 'gateway'].map(pidOf).filter(isAlive)).toEqual([]);
    expect(launcher.stdout).toContain(`\nWhat the processes said is in ${path.join(home, 'logs', 'slipway.log')}\n`);
    return launcher.stdout;
  };

  it('an engine that the configuration does not have', async () => {
    expect(await failed({ STAND_IN_SPOILED: 'engine' })).toContain(
      'The quickstart failed: 422 validation_failed: The request is well-formed but breaks a rule.\n' +
        '  - spec.runtime.engine: target "local" has the engines: other\n  Correct the fields named in details.\n',
    );
  });

  it('an operation that fails', async () => {
    expect(await failed({ STAND_IN_SPOILED: 'operation' })).toContain(
      'The quickstart failed: rollout failed (instance_not_ready): the model server ended with 1\n',
    );
  });

  it('a gateway that dies at each request', async () => {
    expect(await failed({})).toMatch(/The quickstart failed: the gateway at http:\S+ does not answer \(.+\)\n/);
  });
});
