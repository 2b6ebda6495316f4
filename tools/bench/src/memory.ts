import { readFileSync } from 'node:fs';

/** Resident memory of a process, from /proc; NaN if there is none. */
export function rssMbOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** Bytes that a process has read and written so far, including sockets and files; NaN if there is no /proc. */
export function movedBytesOf(pid: number): { read: number; written: number } {
  try {
    const io = readFileSync(`/proc/${pid}/io`, 'utf8');
    const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
    return { read: of('rchar'), written: of('wchar') };
  } catch {
    return { read: Number.NaN, written: Number.NaN };
  }
}
