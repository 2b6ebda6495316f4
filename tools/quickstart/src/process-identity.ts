import { readFileSync } from 'node:fs';

/** A process beyond its pid, which is reused: `started` is its start in ticks since boot, or `unknown` if the system does not tell. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

/** Undefined for a dead process, and for a zombie, which is dead but not collected. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  try {
    // After the command's closing parenthesis, as the command itself may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
    return fields[0] === 'Z' ? undefined : { pid, started: fields[19] ?? 'unknown' };
  } catch {
    return { pid, started: 'unknown' };
  }
}

export function isStillRunning(known: ProcessIdentity): boolean {
  return identifyProcess(known.pid)?.started === known.started;
}
