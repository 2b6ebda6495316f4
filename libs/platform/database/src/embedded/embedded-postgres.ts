import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeHome } from '@slipway/platform-config/startup';
import { APP_ROLE, DATABASE, ensureApplicationRoles, GATEWAY_ROLE, OWNER_ROLE } from './application-roles.js';
import { findBinaries, type Binaries } from './binaries.js';
import { initialize, locateCluster, resetPassword, type Cluster } from './cluster.js';
import { keepCredentials, readCredentials, type Credentials } from './credentials.js';
import { lockHome } from './home-lock.js';
import { evictOrphans, isReady } from './orphans.js';
import { rootFolder, serverEnvironment } from './server-user.js';

export interface EmbeddedPostgresOptions {
  /**
   * Folder of the stack (SLIPWAY_HOME). It is made if missing, and contains passwords, port, log and, if possible, the
   * cluster.
   */
  dir: string;
  /** If unset: the port of the last start if it is free, else any free one. */
  port?: number;
  /** Further server flags, such as `['-c', 'fsync=off']`. */
  flags?: string[];
  /** Name of the superuser; `postgres` if unset. It cannot change once the cluster exists. */
  superuser?: string;
  /** False makes a bare server, without the database `slipway` and its roles, for tests that make their own. */
  application?: boolean;
}

export interface EmbeddedPostgres {
  /** Login `slipway_app`, database `slipway`: neither superuser nor owner. */
  appUrl: string;
  /** Login `slipway_gateway_app`, which has only the rights that a gateway needs. */
  gatewayUrl: string;
  /** Login `slipway_owner`, for migrations. */
  ownerUrl: string;
  /** Superuser, database `postgres`. */
  superuserUrl: string;
  port: number;
  pid: number;
  /** Settles when the server's process ends, requested or not. Never rejects. */
  exited: Promise<void>;
  /** Fast shutdown, then harder; resolves when the server is gone. May be called again. */
  stop(): Promise<void>;
}

/**
 * A temporary failure of a start, which another attempt may fix: the port was taken meanwhile, or a killed server's
 * backends still run.
 */
const TRANSIENT =
  /could not bind|Address already in use|pre-existing shared memory block|lock file "[^"]*" already exists/;
const START_TIMEOUT_MS = 60_000;

/**
 * Starts Postgres from npm on 127.0.0.1. It has its own life cycle: no signal hooks and a session of its own, so that
 * Ctrl-C reaches only the launcher, which stops its processes first and the server last. A server that a killed
 * launcher left running is stopped first.
 * @throws Error that says what to do: no binaries for this platform, no user to run as, the home is in use, or the
 * server does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const home = path.resolve(options.dir);
  makeHome(home);
  const release = lockHome(home);
  try {
    const cluster = locateCluster(home);
    const binaries = await findBinaries(cluster.user, home);
    const superuser = options.superuser ?? 'postgres';
    const credentials = await prepare(home, cluster, binaries, superuser);
    const { child, port } = await startOnAPort(home, cluster, binaries, options, credentials.port);
    keepCredentials(home, { ...credentials, port });
    const server = describe(child, port, superuser, credentials, release);
    if (options.application === false) return server;
    return await ensureApplicationRoles(server.superuserUrl, credentials).then(
      () => server,
      async (error: unknown) => {
        await server.stop();
        throw error;
      },
    );
  } catch (error) {
    release();
    throw error;
  }
}

async function prepare(home: string, cluster: Cluster, binaries: Binaries, superuser: string): Promise<Credentials> {
  const { credentials, isNew } = readCredentials(home);
  if (!existsSync(cluster.data)) {
    // Written first: a cluster with an unknown password must not exist.
    keepCredentials(home, credentials);
    await initialize(cluster, binaries, superuser, credentials.superuserPassword);
    return credentials;
  }
  await evictOrphans(cluster.data, binaries.pgCtl, cluster.user);
  if (isNew) {
    await resetPassword(cluster, binaries, superuser, credentials.superuserPassword);
    keepCredentials(home, credentials);
  }
  return credentials;
}

async function startOnAPort(
  home: string,
  cluster: Cluster,
  binaries: Binaries,
  options: EmbeddedPostgresOptions,
  lastPort: number | undefined,
): Promise<{ child: ChildProcess; port: number }> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const port = options.port ?? (lastPort && (await isFree(lastPort)) ? lastPort : await freePort());
    const outcome = await startOnce(home, cluster, binaries, port, options.flags ?? [], deadline);
    if (typeof outcome !== 'string') return { child: outcome, port };
    if (!TRANSIENT.test(outcome) || Date.now() > deadline)
      throw new Error(`The embedded Postgres did not start:\n${outcome}`);
    await delay(250);
    if (outcome.includes('lock file')) await evictOrphans(cluster.data, binaries.pgCtl, cluster.user);
  }
}

/** @returns the running server, or the end of its log if it gave up */
async function startOnce(
  home: string,
  cluster: Cluster,
  binaries: Binaries,
  port: number,
  flags: string[],
  deadline: number,
): Promise<ChildProcess | string> {
  const logFile = path.join(home, 'postgres.log');
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  // A file and not a pipe: a server that outlives its launcher must not lose its log, nor fail on a closed pipe.
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(
    binaries.postgres,
    [
      '-D',
      cluster.data,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'logging_collector=off',
      '-c',
      'max_connections=200',
      '-c',
      'shared_buffers=64MB',
      ...flags,
    ],
    { ...cluster.user, cwd: rootFolder(), env: serverEnvironment(), detached: true, stdio: ['ignore', log, log] },
  );
  closeSync(log);
  let failure: string | undefined;
  child.once('error', (error) => (failure = error.message));
  child.once('exit', (code, signal) => (failure ??= `postgres exited with ${signal ?? code}\n${tail(logFile)}`));
  while (failure === undefined && !isReady(cluster.data, child.pid ?? -1)) {
    if (Date.now() > deadline) {
      child.kill('SIGQUIT');
      return `not ready in time\n${tail(logFile)}`;
    }
    await delay(15);
  }
  return failure ?? child;
}

function describe(
  child: ChildProcess,
  port: number,
  superuser: string,
  credentials: Credentials,
  release: () => void,
): EmbeddedPostgres {
  const url = (user: string, password: string, database: string): string =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const exited = new Promise<void>((resolve) => {
    if (hasEnded(child)) resolve();
    child.once('exit', () => resolve());
  }).then(release);
  return {
    appUrl: url(APP_ROLE, credentials.appPassword, DATABASE),
    gatewayUrl: url(GATEWAY_ROLE, credentials.gatewayPassword, DATABASE),
    ownerUrl: url(OWNER_ROLE, credentials.ownerPassword, DATABASE),
    superuserUrl: url(superuser, credentials.superuserPassword, 'postgres'),
    port,
    pid: child.pid ?? -1,
    exited,
    stop: () => stopServer(child, exited),
  };
}

async function stopServer(child: ChildProcess, exited: Promise<void>): Promise<void> {
  // Fast (disconnects clients), immediate (recovers at the next start), and finally SIGKILL.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (hasEnded(child)) break;
    child.kill(signal);
    if (await endsWithin(exited, 20_000)) break;
  }
  await exited;
}

async function endsWithin(exited: Promise<void>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const outcome = await Promise.race([
    exited.then(() => true),
    delay(ms, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return outcome;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function isFree(port: number): Promise<boolean> {
  return listenOn(port).then(
    () => true,
    () => false,
  );
}

function freePort(): Promise<number> {
  return listenOn(0);
}

function listenOn(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(port, '127.0.0.1', () => {
      const bound = (probe.address() as net.AddressInfo).port;
      probe.close(() => resolve(bound));
    });
  });
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').split('\n').slice(-15).join('\n').trim();
}
