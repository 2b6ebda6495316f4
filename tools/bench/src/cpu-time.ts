import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** Processor time of a process, its living children and those it has reaped, from /proc; NaN if there is none. */
export function cpuSecondsOf(pid: number): number {
  try {
    let ticks = ticksOf(pid, true).ticks;
    for (const entry of readdirSync('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      const { parent, ticks: own } = ticksOf(Number(entry), false);
      if (parent === pid) ticks += own;
    }
    return ticks / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

function ticksOf(pid: number, withReaped: boolean): { parent: number; ticks: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = fields.slice(11, 15);
    return { parent: fields[1] ?? 0, ticks: user + system + (withReaped ? reapedUser + reapedSystem : 0) };
  } catch (error) {
    // A process may end between the listing and the read, but the given process must exist.
    if (withReaped) throw error;
    return { parent: 0, ticks: 0 };
  }
}
