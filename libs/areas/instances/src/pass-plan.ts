import type { InstanceRow, WorkloadRow } from './instance.query.js';

/**
 * What has to be done for one instance now:
 *
 * - `start`: the row says starting, then the driver starts it
 * - `queue`: it is wanted, but the target has no free place yet
 * - `look`: it runs; observe it
 * - `withdraw`: nobody wants it any more; out of the gateways' sight first
 * - `terminate`: stop it, and look until it is gone
 * - `reclaim`: wanted again while it was being stopped
 * - `revive`: wanted again after it had stopped
 */
export type TaskKind = 'start' | 'queue' | 'look' | 'withdraw' | 'terminate' | 'reclaim' | 'revive';

export interface Task {
  kind: TaskKind;
  workload: WorkloadRow;
  instance: InstanceRow;
  /** Milliseconds until it is due: the rest of a back-off. */
  inMs: number;
}

export interface PassPlan {
  /** Ordinals that have no row yet. */
  missing: { workload: WorkloadRow; ordinals: number[] }[];
  tasks: Task[];
  /** Workloads that nobody holds and of which nothing is left. */
  retirable: WorkloadRow[];
}

/** States in which an instance takes up one of its target's places. */
const OCCUPYING = new Set(['starting', 'ready', 'unhealthy', 'backing_off', 'stopping']);

/**
 * From what stands in the tables to what has to be done; asks nobody else. Workloads come in the order in which they may
 * start. A place counts as free only when what had it is gone, so a target never runs more than it may, not even while one
 * workload replaces another.
 */
export function planPass(workloads: readonly WorkloadRow[], maxInstances: number): PassPlan {
  const plan: PassPlan = { missing: [], tasks: [], retirable: [] };
  let occupied = workloads.flatMap(({ instances }) => instances).filter(({ state }) => OCCUPYING.has(state)).length;
  for (const workload of workloads) {
    const { instances, is_held: isHeld, replicas } = workload;
    const ordinals = new Set(instances.map(({ ordinal }) => ordinal));
    const missing = isHeld
      ? Array.from({ length: replicas }, (_, ordinal) => ordinal).filter((ordinal) => !ordinals.has(ordinal))
      : [];
    if (missing.length > 0) plan.missing.push({ workload, ordinals: missing });
    if (!isHeld && instances.every(({ state }) => state === 'stopped')) plan.retirable.push(workload);
    for (const instance of instances) {
      const isWanted = isHeld && instance.ordinal < replicas;
      const kind = isWanted ? taskOfWanted(instance, occupied < maxInstances) : taskOfUnwanted(instance);
      if (kind === undefined) continue;
      if (kind === 'start' && instance.state === 'pending') occupied += 1;
      plan.tasks.push({
        kind,
        workload,
        instance,
        inMs: kind === 'start' ? Math.max(0, (instance.start_in ?? 0) * 1_000) : 0,
      });
    }
  }
  return plan;
}

function taskOfWanted(instance: InstanceRow, hasPlace: boolean): TaskKind {
  switch (instance.state) {
    case 'pending':
      return hasPlace ? 'start' : 'queue';
    case 'backing_off':
      return 'start';
    case 'stopping':
      return 'reclaim';
    case 'stopped':
      return 'revive';
    default:
      return 'look';
  }
}

function taskOfUnwanted(instance: InstanceRow): TaskKind | undefined {
  if (instance.state === 'stopped') return undefined;
  return instance.state === 'stopping' ? 'terminate' : 'withdraw';
}
