import pLimit from 'p-limit';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';

/**
 * The task that is due for one instance:
 *
 * - `start`: write that it is starting, then let the driver start it
 * - `queue`: it is wanted, but the target has no capacity for it yet
 * - `look`: it runs; observe it
 * - `withdraw`: it is no longer wanted; withdraw it from the gateways first
 * - `terminate`: stop it, and check until it is gone. One that is to be replaced then starts again
 * - `reclaim`: it is wanted again while it is being stopped
 * - `revive`: it is wanted again after it has stopped
 * - `judge`: its start out of a sleep has failed; the scaler decides whether there is another
 */
export type TaskKind = 'start' | 'queue' | 'look' | 'withdraw' | 'terminate' | 'reclaim' | 'revive' | 'judge';

export interface InstanceTask {
  kind: TaskKind;
  workload: WorkloadRow;
  instance: InstanceRow;
  /** Milliseconds until it is due: the rest of a back-off. */
  inMs: number;
  /** For `queue`: the most instances of the tenant on this target, if the tenant already has them. */
  share?: number;
}

export interface PassPlan {
  /** Ordinals that have no row yet. */
  missing: { workload: WorkloadRow; ordinals: number[] }[];
  tasks: InstanceTask[];
  /** Workloads that nothing retains and that have no running instances. */
  retirable: WorkloadRow[];
  /** Workloads that are only kept warm while others wait for their capacity. */
  evicted: WorkloadRow[];
}

/**
 * On a target with thousands of instances, all may change at once. Each task uses a connection to Postgres for a while.
 */
const AT_ONCE = 32;

/** Tasks that the target needs some time for. */
const ACTIONS: ReadonlySet<TaskKind> = new Set(['start', 'reclaim', 'terminate']);

const LEAVING: ReadonlySet<TaskKind> = new Set(['withdraw', 'terminate']);

/** An instance that has drained for this long has requests in flight. */
const LONG_DRAIN_SECONDS = 5;

/** States in which an instance takes up capacity of its target. */
const OCCUPYING = new Set(['starting', 'ready', 'unhealthy', 'backing_off', 'stopping']);

/**
 * Computes the tasks from the rows alone. The workloads are in the order in which they may start. Capacity is free only
 * when the instance that used it is gone, so a target never exceeds its limit, not even while one workload replaces
 * another. The capacity of a suspended workload is kept for the operation that suspended it. The same holds for the
 * share of each tenant.
 * @param shareOf the most instances of a tenant, by its name
 */
export function planPass(
  workloads: readonly WorkloadRow[],
  maxInstances: number,
  shareOf: (tenantName: string) => number = () => Number.POSITIVE_INFINITY,
): PassPlan {
  const plan: PassPlan = { missing: [], tasks: [], retirable: [], evicted: [] };
  let occupied = workloads.flatMap(occupying).length;
  const ofTenants = occupiedByTenant(workloads);
  const kept = keptCapacity(workloads);
  const keptOf = retainersByTenant(workloads);
  for (const workload of workloads) {
    const { instances, is_retained: isRetained, replicas } = workload;
    const runs = isRetained && workload.suspended_by === null;
    const ordinals = new Set(instances.map(({ ordinal }) => ordinal));
    const missing = runs
      ? Array.from({ length: replicas }, (_, ordinal) => ordinal).filter((ordinal) => !ordinals.has(ordinal))
      : [];
    if (missing.length > 0) plan.missing.push({ workload, ordinals: missing });
    if (!isRetained && instances.every(({ state }) => state === 'stopped')) plan.retirable.push(workload);
    const share = shareOf(workload.tenant_name);
    for (const instance of instances) {
      const isWanted = runs && instance.ordinal < replicas && instance.replace_drain_seconds === null;
      const ofTenant = ofTenants.get(workload.tenant_id) ?? 0;
      const hasShare = ofTenant + capacityKeptFromOthers(kept, workload, keptOf.get(workload.tenant_id)) < share;
      const isFree = hasShare && occupied + capacityKeptFromOthers(kept, workload) < maxInstances;
      const kind = isWanted ? taskOfWanted(workload, instance, isFree) : taskOfUnwanted(instance);
      if (kind === undefined) continue;
      // A revived instance takes its capacity in the next pass. Until then, no later workload may take it.
      if ((kind === 'start' && instance.state === 'pending') || (kind === 'revive' && isFree)) {
        occupied += 1;
        ofTenants.set(workload.tenant_id, ofTenant + 1);
        for (const retainer of workload.retainers) kept.set(retainer, Math.max(0, (kept.get(retainer) ?? 0) - 1));
      }
      plan.tasks.push({
        kind,
        workload,
        instance,
        inMs: kind === 'start' ? Math.max(0, (instance.start_in_seconds ?? 0) * 1_000) : 0,
        ...(kind === 'queue' && !hasShare && { share }),
      });
    }
  }
  plan.evicted = inTheWay(workloads, plan.tasks);
  return plan;
}

function occupiedByTenant(workloads: readonly WorkloadRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const workload of workloads)
    counts.set(workload.tenant_id, (counts.get(workload.tenant_id) ?? 0) + occupying(workload).length);
  return counts;
}

/** Returns for each tenant the retainers for which capacity may be kept. A tenant without any has an empty set. */
function retainersByTenant(workloads: readonly WorkloadRow[]): Map<string, Set<string>> {
  const retainers = new Map<string, Set<string>>();
  for (const { tenant_id, suspended_by } of workloads) {
    const own = retainers.get(tenant_id) ?? new Set();
    retainers.set(tenant_id, own);
    if (suspended_by !== null) own.add(`operation:${suspended_by}`);
  }
  return retainers;
}

function occupying({ instances }: WorkloadRow): InstanceRow[] {
  return instances.filter(({ state }) => OCCUPYING.has(state));
}

/**
 * Returns for each retainer the number of instances that capacity is kept for: its operation suspended them, and it has
 * not replaced them yet.
 */
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

/** @param among counts only the capacity that is kept for these retainers; all by default */
function capacityKeptFromOthers(
  kept: ReadonlyMap<string, number>,
  { retainers }: WorkloadRow,
  among?: ReadonlySet<string>,
): number {
  const isOther = (retainer: string) => !retainers.includes(retainer) && (among === undefined || among.has(retainer));
  return [...kept].reduce((sum, [retainer, count]) => sum + (isOther(retainer) ? count : 0), 0);
}

/**
 * Returns the warm workloads to stop for those that are needed. Instances that wait for their tenant's share need the
 * capacity of that tenant alone.
 */
function inTheWay(workloads: readonly WorkloadRow[], tasks: readonly InstanceTask[]): WorkloadRow[] {
  const limited = tasks.filter(({ share }) => share !== undefined);
  const evicted = new Set<WorkloadRow>();
  for (const tenant of new Set(limited.map(({ workload }) => workload.tenant_id))) {
    const isOwn = ({ tenant_id }: WorkloadRow) => tenant_id === tenant;
    const own = tasks.filter(
      ({ kind, share, workload }) => isOwn(workload) && (kind !== 'queue' || share !== undefined),
    );
    for (const workload of inTheWayOf(own, workloads.filter(isOwn))) evicted.add(workload);
  }
  const others = tasks.filter(({ share }) => share === undefined);
  for (const workload of inTheWayOf(others, workloads)) evicted.add(workload);
  return [...evicted];
}

/** Returns the workloads to stop, the longest warm first, and no more than necessary. */
function inTheWayOf(tasks: readonly InstanceTask[], workloads: readonly WorkloadRow[]): WorkloadRow[] {
  const waiting = tasks.filter(({ kind, workload }) => kind === 'queue' && workload.warm_age_seconds === null).length;
  const leaving = tasks.filter(
    ({ kind, instance }) => LEAVING.has(kind) && OCCUPYING.has(instance.state) && !isLongDrain(instance),
  ).length;
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

/** It may keep its capacity for many minutes. */
function isLongDrain({ drain_left_seconds: left, state_age_seconds: age }: InstanceRow): boolean {
  return left !== null && left > 0 && age >= LONG_DRAIN_SECONDS;
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
 * Limits the concurrent tasks of a target that reports changes. Checks have a separate queue: a server that has become
 * ready must not wait for a thousand other starts before it is published.
 */
export class TaskQueues {
  private readonly actions = pLimit(AT_ONCE);
  private readonly checks = pLimit(AT_ONCE);

  run<T>(kind: TaskKind, work: () => Promise<T>): Promise<T> {
    return (ACTIONS.has(kind) ? this.actions : this.checks)(work);
  }
}
