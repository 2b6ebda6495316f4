import type { RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { errors } from '@slipway/platform-http';
import { HOLD_SECONDS, type Deployment } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type CapacityForecast } from '@slipway/ports/instances';
import type { Revision } from '@slipway/ports/revisions';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';
import type { RolloutDto } from './rollout.dto.js';
import { rolloutErrors } from './rollout.errors.js';
import { stopsOf, takeOverFrom, type ChangeoverInput, type RolloutInput } from './rollout.input.js';
import { hasRoom, isExhausted, movesTraffic, settled, type Strategy } from './rollout.plan.js';

/** What a rollout comes to on its target as that is when it is accepted. */
export interface Settlement {
  strategy: Strategy;
  room: CapacityForecast;
  changeover?: ChangeoverInput;
}

/** Whether a revision runs beside those that run, or has them stopped first. */
@Injectable()
export class Settlements {
  constructor(
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /** Throws `capacity_exhausted` (409) where no waiting would make room for a strategy that stops nothing. */
  async ofRollout(
    tx: Tx,
    { id: deploymentId, tenantId }: Deployment,
    asked: Strategy,
    about: { spec: RevisionSpec; reused: Revision | undefined; route: Route | undefined },
  ): Promise<Settlement> {
    const { spec, reused, route } = about;
    const stops = stopsOf(route, reused?.id ?? '');
    const candidate = { tenantId, deploymentId, revisionId: reused?.id, spec };
    const takesOver = movesTraffic(asked) ? takeOverFrom(stops) : undefined;
    const room = await this.instances.forecastCapacity(tx, { ...candidate, takesOver });
    const strategy = settled(asked, { hasPrevious: stops.length > 0, room });
    if (strategy.type === 'recreate' && stops.length > 0) {
      const { hold_seconds: holdSeconds = HOLD_SECONDS.default } = strategy;
      const estimatedSeconds = await this.instances.startSeconds(tx, deploymentId);
      const changeover = { stops, holdSeconds, estimatedSeconds };
      const after = await this.instances.forecastCapacity(tx, {
        ...candidate,
        takesOver: takeOverFrom(stops, changeover),
      });
      return { strategy, room: after, changeover };
    }
    if (isExhausted(room)) throw capacityExhausted(room);
    return { strategy, room };
  }

  /** Where a rollback's target is down and has no room beside what the deployment runs, that is stopped first. Others' room is waited for. */
  async ofRollback(
    tx: Tx,
    { id: deploymentId, tenantId, defaultStrategy }: Deployment,
    target: Revision,
    live: RolloutInput | undefined,
  ): Promise<Omit<Settlement, 'strategy'>> {
    const status = await this.instances.status(tx, target.id);
    const stops = stopsOf(await this.routes.current(tx, deploymentId), target.id);
    const candidate = { tenantId, deploymentId, revisionId: target.id, spec: target.spec };
    const room = await this.instances.forecastCapacity(tx, { ...candidate, takesOver: takeOverFrom(stops) });
    if ((status?.ready ?? 0) > 0 || hasRoom(room) || room.own === 0) return { room };
    const isCandidateRouted = stops.some(({ revisionId }) => revisionId === live?.revisionId);
    if (live && live.revisionId !== target.id && !isCandidateRouted)
      stops.push({ revisionId: live.revisionId, revisionName: live.revisionName, weight: 0 });
    const configured = (defaultStrategy as { hold_seconds?: number } | null)?.hold_seconds;
    const holdSeconds = live?.changeover?.holdSeconds ?? configured ?? HOLD_SECONDS.default;
    const estimatedSeconds = await this.instances.startSeconds(tx, deploymentId);
    const changeover = { stops, holdSeconds, estimatedSeconds };
    const after = await this.instances.forecastCapacity(tx, {
      ...candidate,
      takesOver: takeOverFrom(stops, changeover),
    });
    return { room: after, changeover };
  }
}

/** @throws validation_failed (422) */
export function assertKeepsNothing({ type }: Strategy, { keep_previous_seconds: kept = 0 }: RolloutDto): void {
  if (type !== 'recreate' || kept === 0) return;
  const message =
    'recreate stops the previous revision for its room, so it cannot stay warm: leave keep_previous_seconds out or send 0; strategy auto keeps it where there is room';
  throw errors.validation_failed({ details: [{ field: 'keep_previous_seconds', code: 'not_applicable', message }] });
}

/** What a rehearsal says that the rollout would do. */
export function wouldDo(revisionName: string, { changeover }: Settlement): string {
  if (!changeover) return `roll out ${revisionName}`;
  const { stops, holdSeconds, estimatedSeconds } = changeover;
  const names = stops.map((one) => one.revisionName).join(', ');
  const gap = estimatedSeconds === null ? 'for as long as its start takes' : `about ${Math.ceil(estimatedSeconds)} s`;
  return `roll out ${revisionName} by recreate: ${names} stops first, and nothing serves ${gap}; each request waits for at most ${holdSeconds} s`;
}

function capacityExhausted({ target, resource, needed, total, free, own }: CapacityForecast): Error {
  const message = `Target ${target} has ${free} of ${total} ${resource}s free and ${needed} are needed; this deployment itself holds ${own}: strategy recreate stops what holds them first, and auto does so where there is no room.`;
  const capacity = { target, resource, needed, total, free, own };
  return rolloutErrors.capacity_exhausted({ message, extra: { capacity } });
}
