import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from './orphans.js';

interface Holder {
  pid: number;
  /**
   * Start of that process in clock ticks since boot, if the system reports it. A pid alone is reused, in containers
   * soon.
   */
  started: string | undefined;
}

/**
 * Allows at most one launcher per home. A second one would treat the server of the first as an orphan and stop it.
 * @returns a function that releases the lock and may be called again @throws Error if a living process holds the home
 */
export function lockHome(home: string): () => void {
  const file = path.join(home, 'postgres.lock');
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Holder));
  try {
    for (let tries = 0; ; tries++) {
      if (linked(mine, file)) return once(() => rmSync(file, { force: true }));
      const holder = readHolder(file);
      if (tries === 10 || (holder && lives(holder)))
        throw new Error(
          `Slipway is already running in ${home} (process ${holder?.pid ?? 'unknown'}). Stop it, or set SLIPWAY_HOME to another folder.`,
        );
      takeAway(file, holder);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** A second call must not remove the lock of the next holder. */
function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

/** The complete file appears under the name or nothing does, and only if the name is free. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Two launchers may find the same dead holder. The slower one must not remove the lock that the faster one just took.
 */
function takeAway(file: string, dead: Holder | undefined): void {
  const aside = `${file}.dead-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const taken = readHolder(aside);
  if (taken && lives(taken) && taken.pid !== dead?.pid) linked(aside, file);
  rmSync(aside, { force: true });
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function lives(holder: Holder): boolean {
  return isAlive(holder.pid) && (holder.started === undefined || holder.started === startOf(holder.pid));
}

function startOf(pid: number): string | undefined {
  try {
    // Field 22, counted after the command's closing parenthesis, because the command itself may contain spaces.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ')[19];
  } catch {
    return undefined;
  }
}
