import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Identifies a process beyond its pid, which is reused. `started` is its start in ticks since boot, or `unknown` if the
 * system does not provide it.
 */
interface ProcessIdentity {
  pid: number;
  started: string;
}

/**
 * `<home>/run/processes.json`: the processes that a launcher started. The next launcher reads it if this one was
 * killed.
 */
interface RunRecord {
  launcher: ProcessIdentity;
  children: ProcessIdentity[];
}

/** Longer than the processes need to end after they lost their launcher, without requests in flight. */
const ORPHANS_LEAVE_MS = 15_000;

const fileOf = (home: string): string => path.join(home, 'run', 'processes.json');
const urlFileOf = (home: string, name: 'api' | 'gateway'): string => path.join(home, 'run', `${name}-url`);

export function writeRunRecord(home: string, childPids: number[]): void {
  const file = fileOf(home);
  const record: RunRecord = {
    launcher: identifyProcess(process.pid) ?? { pid: process.pid, started: 'unknown' },
    children: childPids.flatMap((pid) => identifyProcess(pid) ?? []),
  };
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Writes the addresses of api and gateway, for the command `slipway` on this machine. */
export function writeUrls(home: string, urls: { api: string; gateway: string }): void {
  for (const name of ['api', 'gateway'] as const)
    writeFileSync(urlFileOf(home, name), `${urls[name]}\n`, { mode: 0o600 });
}

export function removeRunRecord(home: string): void {
  for (const file of [fileOf(home), urlFileOf(home, 'api'), urlFileOf(home, 'gateway')]) rmSync(file, { force: true });
}

/** The running launcher of this home, if it is not this process. */
export function otherLauncher(home: string): number | undefined {
  const record = read(home);
  return record && record.launcher.pid !== process.pid && isStillRunning(record.launcher)
    ? record.launcher.pid
    : undefined;
}

/**
 * Processes of a killed launcher end by themselves, but may still be draining on the ports that this start needs. Waits
 * for them, and then ends those that are left.
 */
export async function outliveOrphans(home: string, drainSeconds: number, say: (line: string) => void): Promise<void> {
  const orphans = (read(home)?.children ?? []).filter(isStillRunning);
  if (orphans.length === 0) return;
  say(`waiting for ${orphans.length} processes of an earlier start to end`);
  const deadline = Date.now() + drainSeconds * 1_000 + ORPHANS_LEAVE_MS;
  while (orphans.some(isStillRunning) && Date.now() < deadline) await delay(50);
  for (const orphan of orphans.filter(isStillRunning)) endHard(orphan.pid);
  while (orphans.some(isStillRunning) && Date.now() < deadline + 2_000) await delay(20);
}

function endHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

function read(home: string): RunRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(home), 'utf8')) as RunRecord;
  } catch {
    return undefined;
  }
}

/** Undefined for a dead process, and for a zombie, which has ended but is not collected. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  try {
    // The fields after the closing parenthesis of the command, because the command itself may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
    return fields[0] === 'Z' ? undefined : { pid, started: fields[19] ?? 'unknown' };
  } catch {
    return { pid, started: 'unknown' };
  }
}

function isStillRunning(known: ProcessIdentity): boolean {
  return identifyProcess(known.pid)?.started === known.started;
}
