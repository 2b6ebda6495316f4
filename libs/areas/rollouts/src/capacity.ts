import type { RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { HOLD_SECONDS, type Deployment } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type Room } from '@slipway/ports/instances';
import type { Revision } from '@slipway/ports/revisions';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';
import type { CapacityDto } from './rollout.dto.js';
import { rolloutErrors } from './rollout.errors.js';
import {
  DEFAULT_SOAK_SECONDS,
  movesTraffic,
  stopsOf,
  takeOverFrom,
  type ChangeoverInput,
  type RolloutInput,
  type Strategy,
} from './rollout.input.js';

/** What a rollout or rollback comes to on its target as the target is when the operation is accepted. */
export interface CapacityDecision {
  strategy: Strategy;
  capacity: Room;
  changeover?: ChangeoverInput;
}

/** Decides whether a revision runs beside those that run, or has them stopped first. */
@Injectable()
export class CapacityPlanner {
  constructor(
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /** Throws `capacity_exhausted` (409) if no waiting would free the capacity that a strategy needs which stops nothing. */
  async forRollout(
    tx: Tx,
    { id: deploymentId, tenantId }: Deployment,
    requested: Strategy,
    about: { spec: RevisionSpec; reused: Revision | undefined; route: Route | undefined },
  ): Promise<CapacityDecision> {
    const { spec, reused, route } = about;
    const stops = stopsOf(route, reused?.id ?? '');
    const candidate = { tenantId, deploymentId, revisionId: reused?.id, spec };
    const takesOver = movesTraffic(requested) ? takeOverFrom(stops) : undefined;
    const capacity = await this.instances.room(tx, { ...candidate, takesOver });
    const strategy = resolveAuto(requested, { hasPrevious: stops.length > 0, capacity });
    if (strategy.type === 'recreate' && stops.length > 0) {
      const { hold_seconds: holdSeconds = HOLD_SECONDS.default } = strategy;
      const estimatedSeconds = await this.instances.startSeconds(tx, deploymentId);
      const changeover = { stops, holdSeconds, estimatedSeconds };
      const after = await this.instances.room(tx, { ...candidate, takesOver: takeOverFrom(stops, changeover) });
      return { strategy, capacity: after, changeover };
    }
    if (isExhausted(capacity)) throw capacityExhausted(capacity);
    return { strategy, capacity };
  }

  /**
   * If a rollback's target is down and there is no capacity for it beside what the deployment runs, that is stopped first. Capacity that
   * others have is waited for.
   */
  async forRollback(
    tx: Tx,
    { id: deploymentId, tenantId, defaultStrategy }: Deployment,
    target: Revision,
    live: RolloutInput | undefined,
  ): Promise<Omit<CapacityDecision, 'strategy'>> {
    const status = await this.instances.status(tx, target.id);
    const stops = stopsOf(await this.routes.current(tx, deploymentId), target.id);
    const candidate = { tenantId, deploymentId, revisionId: target.id, spec: target.spec };
    const capacity = await this.instances.room(tx, { ...candidate, takesOver: takeOverFrom(stops) });
    if ((status?.ready ?? 0) > 0 || hasCapacity(capacity) || capacity.own === 0) return { capacity };
    const isCandidateRouted = stops.some(({ revisionId }) => revisionId === live?.revisionId);
    if (live && live.revisionId !== target.id && !isCandidateRouted)
      stops.push({ revisionId: live.revisionId, revisionName: live.revisionName, weight: 0 });
    const configured = (defaultStrategy as { hold_seconds?: number } | null)?.hold_seconds;
    const holdSeconds = live?.changeover?.holdSeconds ?? configured ?? HOLD_SECONDS.default;
    const estimatedSeconds = await this.instances.startSeconds(tx, deploymentId);
    const changeover = { stops, holdSeconds, estimatedSeconds };
    const after = await this.instances.room(tx, { ...candidate, takesOver: takeOverFrom(stops, changeover) });
    return { capacity: after, changeover };
  }
}

/** What a rehearsal says that the rollout would do. */
export function wouldDo(revisionName: string, { changeover }: CapacityDecision): string {
  if (!changeover) return `roll out ${revisionName}`;
  const { stops, holdSeconds, estimatedSeconds } = changeover;
  const names = stops.map((one) => one.revisionName).join(', ');
  const gap = estimatedSeconds === null ? 'for as long as its start takes' : `about ${Math.ceil(estimatedSeconds)} s`;
  return `roll out ${revisionName} by recreate: ${names} stops first, and nothing serves ${gap}; each request waits for at most ${holdSeconds} s`;
}

function capacityExhausted({ target, resource, needed, total, free, own }: Room): Error {
  const message = `Target ${target} has ${free} of ${total} ${resource}s free and ${needed} are needed; this deployment itself holds ${own}: strategy recreate stops what holds them first, and auto does so where there is no room.`;
  const capacity = { target, resource, needed, total, free, own };
  return rolloutErrors.capacity_exhausted({ message, extra: { capacity } });
}

/** Whether the target can run the candidate beside what runs. If the target does not tell, it may. */
export function hasCapacity({ free, needed }: Pick<Room, 'free' | 'needed'>): boolean {
  return free === null || free >= needed;
}

/** Whether no waiting frees enough: the deployment itself has what is missing, or the target does not have it. */
export function isExhausted(capacity: Pick<Room, 'free' | 'needed' | 'total' | 'own'>): boolean {
  return !hasCapacity(capacity) && capacity.total !== null && capacity.needed > capacity.total - capacity.own;
}

/** Whether there is enough once the deployment's other revisions are stopped. If not, others' is waited for before anything is stopped. */
export function hasCapacityAfterStop({ free, own, needed }: Pick<Room, 'free' | 'own' | 'needed'>): boolean {
  return free === null || free + own >= needed;
}

/** What `auto` comes to; any other strategy stays what it is. */
export function resolveAuto(
  strategy: Strategy,
  { hasPrevious, capacity }: { hasPrevious: boolean; capacity: Room },
): Strategy {
  if (strategy.type !== 'auto') return strategy;
  const { steps, hold_seconds } = strategy;
  if (!hasPrevious || hasCapacity(capacity) || capacity.own === 0) return { type: 'canary', steps };
  const soak_seconds = steps.at(-1)?.soak_seconds ?? DEFAULT_SOAK_SECONDS;
  return { type: 'recreate', steps: [{ traffic_percent: 100, soak_seconds, requires_approval: false }], hold_seconds };
}

/** What a rehearsal shows of the capacity for the revision that comes. */
export function capacityAnswer({ target, needed, free }: Room, changeover: ChangeoverInput | undefined): CapacityDto {
  return { target, needed, free, gap_seconds: changeover ? changeover.estimatedSeconds : 0 };
}
