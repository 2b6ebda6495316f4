import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runAs, serverEnvironment, type ServerUser } from './server-user.js';

/**
 * Stops the remains of a killed launcher in a cluster's data folder: a server that still runs, processes of a server
 * that was itself killed, or a pid file whose pid now belongs to another process.
 */
export async function evictOrphans(data: string, pgCtl: string, user: ServerUser): Promise<void> {
  const pidFile = path.join(data, 'postmaster.pid');
  const pid = postmasterPid(data);
  if (pid === undefined) return;
  if (isServerOf(pid, data)) {
    await stop(data, pgCtl, user);
    return;
  }
  await backendsGone(data);
  // Postgres removes a stale file itself, but mistakes another process (or a zombie) with that pid for a server and
  // gives up.
  if (isTaken(pid)) rmSync(pidFile, { force: true });
}

/** First line of postmaster.pid. */
export function postmasterPid(data: string): number | undefined {
  const pid = Number(pidFileLines(data)[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
}

/** The server writes `ready` into the eighth line of its pid file once it accepts connections. */
export function isReady(data: string, pid: number): boolean {
  const lines = pidFileLines(data);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** A zombie is dead: in a container without an init no process collects it. */
export function isAlive(pid: number): boolean {
  return isTaken(pid) && processState(pid) !== 'Z';
}

/** The same check that Postgres makes for the pid in its pid file. */
function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function processState(pid: number): string | undefined {
  try {
    // After the command's closing parenthesis, because the command itself may contain anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.[0];
  } catch {
    return undefined;
  }
}

async function stop(data: string, pgCtl: string, user: ServerUser): Promise<void> {
  for (const mode of ['fast', 'immediate']) {
    try {
      await runAs(user, pgCtl, ['-D', data, 'stop', '-m', mode, '-w', '-t', '30'], 40_000);
      return;
    } catch (error) {
      // It may have ended by itself meanwhile; a server that hangs is stopped harder.
      const pid = postmasterPid(data);
      if (pid === undefined || !isServerOf(pid, data)) return;
      if (mode === 'immediate') throw error;
    }
  }
}

/**
 * Backends notice the death of their server by themselves, and a new server refuses to start before they have ended.
 */
async function backendsGone(data: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (processesIn(data).length > 0 && Date.now() < deadline) await delay(50);
  for (const pid of processesIn(data)) killQuietly(pid);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}

/**
 * A server's working folder is its data folder. Its pid alone may since belong to another program, also in a container.
 */
function isServerOf(pid: number, data: string): boolean {
  if (!isAlive(pid)) return false;
  if (existsSync('/proc/self/cwd')) return folderOf(pid) === realpathSync(data);
  try {
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], {
      encoding: 'utf8',
      env: serverEnvironment(),
    }).includes(data);
  } catch {
    return false;
  }
}

function processesIn(data: string): number[] {
  if (!existsSync('/proc/self/cwd')) return [];
  const folder = realpathSync(data);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && folderOf(pid) === folder);
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function pidFileLines(data: string): string[] {
  try {
    return readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}
