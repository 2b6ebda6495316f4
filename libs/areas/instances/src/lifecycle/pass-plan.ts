import pLimit from 'p-limit';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';

/**
 * What has to be done for one instance now:
 *
 * - `start`: the row says starting, then the driver starts it
 * - `queue`: it is wanted, but the target has no capacity for it yet
 * - `look`: it runs; observe it
 * - `withdraw`: nobody wants it any more; out of the gateways' sight first
 * - `terminate`: stop it, and look until it is gone
 * - `reclaim`: wanted again while it was being stopped
 * - `revive`: wanted again after it had stopped
 * - `judge`: its start out of a sleep has failed; whether there is another is the scaler's to say
 */
export type TaskKind = 'start' | 'queue' | 'look' | 'withdraw' | 'terminate' | 'reclaim' | 'revive' | 'judge';

export interface InstanceTask {
  kind: TaskKind;
  workload: WorkloadRow;
  instance: InstanceRow;
  /** Milliseconds until it is due: the rest of a back-off. */
  inMs: number;
}

export interface PassPlan {
  /** Ordinals that have no row yet. */
  missing: { workload: WorkloadRow; ordinals: number[] }[];
  tasks: InstanceTask[];
  /** Workloads that nothing retains and of which nothing is left. */
  retirable: WorkloadRow[];
  /** Workloads that are only kept warm, where others wait for their capacity. */
  evicted: WorkloadRow[];
}

/** Where a target has thousands of instances, all may change at once; each task has a connection to Postgres for a while. */
const AT_ONCE = 32;

/** What the target is asked to do, which takes it a while. */
const ACTIONS: ReadonlySet<TaskKind> = new Set(['start', 'reclaim', 'terminate']);

const LEAVING: ReadonlySet<TaskKind> = new Set(['withdraw', 'terminate']);

/** States in which an instance takes up capacity of its target. */
const OCCUPYING = new Set(['starting', 'ready', 'unhealthy', 'backing_off', 'stopping']);

/**
 * From what stands in the tables to what has to be done; asks nobody else. Workloads come in the order in which they may
 * start. Capacity counts as free only when what used it is gone, so a target never runs more than it may, not even while one
 * workload replaces another. What a suspended workload had is kept for the operation that suspended it.
 */
export function planPass(workloads: readonly WorkloadRow[], maxInstances: number): PassPlan {
  const plan: PassPlan = { missing: [], tasks: [], retirable: [], evicted: [] };
  let occupied = workloads.flatMap(occupying).length;
  const kept = keptCapacity(workloads);
  for (const workload of workloads) {
    const { instances, is_retained: isRetained, replicas } = workload;
    const runs = isRetained && workload.suspended_by === null;
    const ordinals = new Set(instances.map(({ ordinal }) => ordinal));
    const missing = runs
      ? Array.from({ length: replicas }, (_, ordinal) => ordinal).filter((ordinal) => !ordinals.has(ordinal))
      : [];
    if (missing.length > 0) plan.missing.push({ workload, ordinals: missing });
    if (!isRetained && instances.every(({ state }) => state === 'stopped')) plan.retirable.push(workload);
    for (const instance of instances) {
      const isWanted = runs && instance.ordinal < replicas;
      const isFree = occupied + capacityKeptFromOthers(kept, workload) < maxInstances;
      const kind = isWanted ? taskOfWanted(workload, instance, isFree) : taskOfUnwanted(instance);
      if (kind === undefined) continue;
      // What is brought back asks in the next pass; nothing after it takes the capacity before.
      if ((kind === 'start' && instance.state === 'pending') || (kind === 'revive' && isFree)) {
        occupied += 1;
        for (const retainer of workload.retainers) kept.set(retainer, Math.max(0, (kept.get(retainer) ?? 0) - 1));
      }
      plan.tasks.push({
        kind,
        workload,
        instance,
        inMs: kind === 'start' ? Math.max(0, (instance.start_in_seconds ?? 0) * 1_000) : 0,
      });
    }
  }
  plan.evicted = inTheWay(workloads, plan.tasks);
  return plan;
}

function occupying({ instances }: WorkloadRow): InstanceRow[] {
  return instances.filter(({ state }) => OCCUPYING.has(state));
}

/** Instances by the retainer that capacity is kept for: its operation suspended them, and nothing that it retains has replaced them yet. */
function keptCapacity(workloads: readonly WorkloadRow[]): Map<string, number> {
  const kept = new Map<string, number>();
  for (const { suspended_by: operation, replicas } of workloads.filter(({ is_retained }) => is_retained)) {
    if (operation === null) continue;
    const retainer = `operation:${operation}`;
    kept.set(retainer, (kept.get(retainer) ?? 0) + replicas);
  }
  for (const [retainer, count] of kept) {
    const users = workloads.filter(
      ({ retainers, suspended_by }) => retainers.includes(retainer) || retainer === `operation:${suspended_by}`,
    );
    kept.set(retainer, Math.max(0, count - users.flatMap(occupying).length));
  }
  return kept;
}

function capacityKeptFromOthers(kept: ReadonlyMap<string, number>, { retainers }: WorkloadRow): number {
  return [...kept].reduce((sum, [retainer, count]) => sum + (retainers.includes(retainer) ? 0 : count), 0);
}

/** What is warm gives way to what is needed, the longest warm first, and no more of it than is missing. */
function inTheWay(workloads: readonly WorkloadRow[], tasks: readonly InstanceTask[]): WorkloadRow[] {
  const waiting = tasks.filter(({ kind, workload }) => kind === 'queue' && workload.warm_age_seconds === null).length;
  const leaving = tasks.filter(({ kind, instance }) => LEAVING.has(kind) && OCCUPYING.has(instance.state)).length;
  let missing = waiting - leaving;
  const evicted: WorkloadRow[] = [];
  for (const workload of workloads
    .filter((one) => one.warm_age_seconds !== null && occupying(one).length > 0)
    .sort((one, other) => (other.warm_age_seconds ?? 0) - (one.warm_age_seconds ?? 0))) {
    if (missing <= 0) break;
    evicted.push(workload);
    missing -= occupying(workload).length;
  }
  return evicted;
}

function taskOfWanted(workload: WorkloadRow, instance: InstanceRow, hasCapacity: boolean): TaskKind {
  switch (instance.state) {
    case 'pending':
      return hasCapacity ? 'start' : 'queue';
    case 'backing_off':
      return workload.is_waking && instance.failure && instance.failed_starts > 0 ? 'judge' : 'start';
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

/**
 * Tasks of a target that tells of changes by itself, so many at once. What is only looked at has a queue of its own: a server that has become
 * ready must not stay out of the gateways' sight until a thousand others are begun.
 */
export class TaskQueues {
  private readonly actions = pLimit(AT_ONCE);
  private readonly checks = pLimit(AT_ONCE);

  run<T>(kind: TaskKind, work: () => Promise<T>): Promise<T> {
    return (ACTIONS.has(kind) ? this.actions : this.checks)(work);
  }
}
