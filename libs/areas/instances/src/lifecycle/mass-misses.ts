import type { Observation } from '@slipway/target-driver';

/** Fewer servers may well fail together. */
const LEAST = 3;
/** No single fault of a server explains more. */
const SHARE = 0.5;
/** How long servers that fail together are not restarted for it. */
const PATIENCE_SECONDS = 60;

/**
 * Distinguishes a fault of the observer from faults of servers. If most servers of a target miss their probes at the same
 * time, this worker, its host or its network is the likely cause, and a restart of all of them would make it worse.
 */
export class MassMisses {
  /** By target and instance: whether the last probe was missed. */
  private readonly targets = new Map<string, Map<string, boolean>>();

  note(target: string, instanceId: string, isMissed: boolean): void {
    const known = this.targets.get(target) ?? new Map<string, boolean>();
    this.targets.set(target, known.set(instanceId, isMissed));
  }

  forget(target: string, instanceId: string): void {
    const known = this.targets.get(target);
    known?.delete(instanceId);
    if (known?.size === 0) this.targets.delete(target);
  }

  /** Whether a server that has been missed for this long is not restarted yet. */
  delaysRestart(target: string, ageSeconds: number): boolean {
    return ageSeconds < PATIENCE_SECONDS && this.countOf(target) !== undefined;
  }

  /** Adds to the message of a missed server how many others are missed. */
  explained(target: string, seen: Observation): Observation {
    const count = this.countOf(target);
    if (count === undefined) return seen;
    const own = seen.message === undefined ? '' : `${seen.message}; `;
    const message = `${own}${count.missed} of ${count.all} instances of target ${target} miss their probes at the same time, so the cause is probably the worker, its host or its network`;
    return { ...seen, message };
  }

  /** Undefined while so few are missed that each may have a fault of its own. */
  private countOf(target: string): { missed: number; all: number } | undefined {
    const known = [...(this.targets.get(target)?.values() ?? [])];
    const missed = known.filter(Boolean).length;
    return missed >= LEAST && missed > SHARE * known.length ? { missed, all: known.length } : undefined;
  }
}
