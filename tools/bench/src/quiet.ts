import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** An idle machine with an idle Postgres uses less than this share of all its processors. */
const MOST_BUSY = 0.05;
const LOOK_MS = 2_000;
const SAY_EVERY_MS = 30_000;

/** Processor time since the start of the machine, over all processors, in ticks. */
export interface CpuTicks {
  busy: number;
  total: number;
}

/**
 * Parses the text of /proc/stat. Time that the hypervisor gave to others (`steal`) counts as busy, because we did not
 * have it.
 * @throws Error for any other text
 */
export function cpuTicks(stat: string): CpuTicks {
  const fields = /^cpu +(\S.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  // user nice system idle iowait irq softirq steal; user already includes guests.
  const ticks = fields.slice(0, 8);
  if (ticks.length < 8 || ticks.some(Number.isNaN)) throw new Error('/proc/stat has an unknown format');
  const total = ticks.reduce((sum, value) => sum + value, 0);
  return { busy: total - ticks[3]! - ticks[4]!, total };
}

/** Share of the processors' time between two samples that was not idle, from 0 to 1. */
export function busyShare(before: CpuTicks, after: CpuTicks): number {
  return after.total > before.total ? (after.busy - before.busy) / (after.total - before.total) : 0;
}

/** @returns the share over the next two seconds; NaN if there is no /proc */
async function lookAtMachine(): Promise<number> {
  try {
    const before = cpuTicks(readFileSync('/proc/stat', 'utf8'));
    await delay(LOOK_MS);
    return busyShare(before, cpuTicks(readFileSync('/proc/stat', 'utf8')));
  } catch {
    return Number.NaN;
  }
}

/**
 * Waits until no other program uses the machine. The total time of all waits of a run is limited: on a machine that is
 * never quiet, the run continues and reports it.
 */
export class QuietWait {
  private waitedMs = 0;
  private hasSaidBlind = false;

  constructor(
    private readonly patienceMs: number,
    private readonly tell: (line: string) => void,
    private readonly look: () => Promise<number> = lookAtMachine,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @returns whether the machine is quiet; false if that cannot be measured */
  async waitUntilQuiet(): Promise<boolean> {
    const begin = this.now();
    let told = -Infinity;
    for (;;) {
      const share = await this.look();
      if (Number.isNaN(share)) {
        if (!this.hasSaidBlind) this.tell('/proc/stat does not exist: cannot check if the machine is quiet');
        this.hasSaidBlind = true;
        return false;
      }
      if (share <= MOST_BUSY) return true;
      const waited = this.now() - begin;
      const percent = `${(share * 100).toFixed(0)} % of the processors`;
      if (this.waitedMs + waited >= this.patienceMs) {
        this.waitedMs += waited;
        this.tell(`not quiet: other programs use ${percent}; continuing`);
        return false;
      }
      if (waited - told < SAY_EVERY_MS) continue;
      this.tell(`waiting for quiet: other programs use ${percent}`);
      told = waited;
    }
  }
}
