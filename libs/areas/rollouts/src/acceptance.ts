import type { PromisedTraits, RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { type Tx, digestOf } from '@slipway/platform-database';
import { HOLD_SECONDS, type Deployment } from '@slipway/ports/deployment-records';
import {
  hasCapacity,
  INSTANCES,
  isExhausted,
  type InstancesPort,
  type CapacityForecast,
} from '@slipway/ports/instances';
import { type Revision, RevisionSpecDto } from '@slipway/ports/revisions';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';
import { type CapacityDto, RolloutDto } from './rollout.dto.js';
import { rolloutErrors } from './rollout.errors.js';
import {
  chooseGate,
  chooseStrategy,
  DEFAULT_SOAK_SECONDS,
  movesTraffic,
  rolloutSteps,
  stopsOf,
  takeOverFrom,
  type ChangeoverInput,
  type RolloutInput,
  type Strategy,
} from './rollout.input.js';
import { quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { operationErrors } from '@slipway/platform-durable/operations';
import { quotaExceeded } from '@slipway/platform-durable/quotas';
import {
  addUnknownRemovals,
  errors,
  mergePatch,
  newFindings,
  readObject,
  reportUnknown,
  unknownIssues,
  type FieldIssue,
  type Principal,
} from '@slipway/platform-http';
import type { CheckedRollout, RolloutPreview, RolloutsPort } from '@slipway/ports/rollouts';

/*
 * Decides whether and how a rollout or a rollback may start: first the rules, the spec in the body and the quotas, then
 * the capacity of the target. `RolloutCheck` offers the rules to other areas.
 */

const PROGRESS_DEADLINE_SECONDS = 600;
/** Added to the start time that an engine's template allows, so that the report of a failed start still arrives. */
const START_MARGIN_SECONDS = 30;

/** An engine may load for half an hour. Its own limit must end first, because its failure has the better report. */
export function progressDeadlineSeconds(traits: PromisedTraits | undefined): number {
  return Math.max(PROGRESS_DEADLINE_SECONDS, (traits?.readyTimeoutSeconds ?? 0) + START_MARGIN_SECONDS);
}

/**
 * Checks that a rollout may start on this deployment.
 * @throws operation_in_progress (409), if the deployment is being deleted, or with the id of the operation that runs on it
 */
export function assertRolloutAllowed(deployment: Pick<Deployment, 'state' | 'currentOperationId' | 'name'>): void {
  if (deployment.state === 'deleting')
    throw operationErrors.operation_in_progress({ message: `Deployment ${deployment.name} is being deleted.` });
  if (deployment.currentOperationId === null) return;
  throw operationErrors.operation_in_progress({
    message: `Operation ${deployment.currentOperationId} is running on deployment ${deployment.name}.`,
    extra: { operation_id: deployment.currentOperationId },
  });
}

/**
 * Checks that the protection of a deployment allows a rollout to start or to be retried, with this plan or without one.
 * A plan starts from an active revision, so the first rollout needs none.
 * @throws plan_required (409)
 */
export function assertAdmitted(
  { name, protection, activeRevisionId }: Pick<Deployment, 'name' | 'protection' | 'activeRevisionId'>,
  planId: string | null | undefined,
): void {
  if (protection.rollouts === 'any' || activeRevisionId === null || planId) return;
  const message = `Deployment ${name} accepts only rollouts of an approved plan, because its protection.rollouts is ${protection.rollouts}.`;
  throw rolloutErrors.plan_required({ message, details: [{ field: 'plan_id', code: 'required', message }] });
}

/**
 * Checks that the active revision is the one that the client expects.
 * @throws precondition_failed (412)
 */
export function assertActiveRevision(
  expected: string | undefined,
  active: { id: string; name: string; number: number } | undefined,
): void {
  if (expected === undefined) return;
  if (active && [active.id, active.name, String(active.number)].includes(expected)) return;
  const message = active
    ? `The active revision is ${active.name}, not ${expected}.`
    : `No revision is active, but ${expected} is expected to be.`;
  throw errors.precondition_failed({ message });
}

/** @throws validation_failed (422) */
export function assertKeepsNothing({ type }: Strategy, { keep_previous_seconds: kept = 0 }: RolloutDto): void {
  if (type !== 'recreate' || kept === 0) return;
  const message =
    'strategy recreate stops the previous revision to free its capacity, so it cannot stay warm: omit keep_previous_seconds, send 0, or use strategy auto, which keeps it if there is enough capacity';
  throw errors.validation_failed({ details: [{ field: 'keep_previous_seconds', code: 'not_applicable', message }] });
}

/** @throws validation_failed (422) */
export function assertKeepsForBake({ bake }: Strategy, { keep_previous_seconds: kept }: RolloutDto): void {
  if (!bake || kept === undefined || kept >= bake.seconds) return;
  const message = `must be at least ${bake.seconds}, the seconds of the bake, so that it can roll back at once`;
  throw errors.validation_failed({ details: [{ field: 'keep_previous_seconds', code: 'min', message }] });
}

/** Counts of a deployment and its tenant that matter for the quotas when a rollout is accepted. */
export interface QuotaCounts {
  reused: Revision | undefined;
  /** Revisions of the deployment. */
  kept: number;
  /** Instances of the tenant, never fewer than are needed. */
  wanted: number;
  /** Instances that the candidate starts with, and instances that are stopped before it starts. */
  replicas: number;
  freed: number;
}

/**
 * Checks the quotas of revisions and instances. A revision that already runs adds no instances.
 * The lock of the deployment makes the count of its revisions exact. The count of instances is not exact: between
 * concurrent rollouts of several deployments, the lock in `want` decides.
 * @throws quota_exceeded (429)
 */
export async function assertWithinQuotas(
  tx: Tx,
  { config, instances }: { config: QuotaConfig; instances: InstancesPort },
  { tenantId, tenantName }: Principal,
  found: QuotaCounts,
): Promise<void> {
  const limits = quotasOf(config, tenantName);
  if (!found.reused && found.kept >= limits.revisions) throw quotaExceeded('revisions', limits.revisions);
  const more = found.replicas - found.freed;
  if (found.wanted + more <= limits.instances) return;
  const needed = await instances.needed(tx, tenantId, found.reused?.id);
  if (needed + more > limits.instances) throw quotaExceeded('instances', limits.instances);
}

/**
 * Applies a patch to a spec and checks the result like a spec that was sent whole.
 * @throws validation_failed (422)
 */
export function patchedSpec(base: RevisionSpec, patch: Record<string, unknown>, path = 'spec_patch'): RevisionSpec {
  const findings = newFindings();
  const dto = readObject(RevisionSpecDto, mergePatch(base, patch) as object, path, findings) as RevisionSpecDto;
  addUnknownRemovals(RevisionSpecDto, patch, path, findings);
  const details = [...findings.mistyped, ...findings.broken];
  if (details.length > 0) throw errors.validation_failed({ details: [...details, ...unknownIssues(findings.unknown)] });
  reportUnknown(findings.unknown);
  return completeSpec(dto);
}

/** Fills in every default of a spec, so that equal deployments have equal digests. */
export function completeSpec(dto: RevisionSpecDto): RevisionSpec {
  return withoutUndefined({
    model: { ...dto.model },
    runtime: {
      target: dto.runtime.target,
      engine: dto.runtime.engine,
      args: dto.runtime.args ?? {},
      env: dto.runtime.env ?? {},
    },
    endpoint: dto.endpoint && { ...dto.endpoint },
    resources: dto.resources && { ...dto.resources },
    scaling: { ...dto.scaling, min_replicas: dto.scaling?.min_replicas ?? 1 },
    probes: dto.probes && { ...dto.probes },
  }) as RevisionSpec;
}

function withoutUndefined(value: unknown): unknown {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutUndefined(member)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks rollout bodies for other areas, with the same rules that a rollout itself must pass. */
@Injectable()
export class RolloutCheck implements RolloutsPort {
  constructor(@Inject(INSTANCES) private readonly instances: InstancesPort) {}

  async check(tx: Tx, tenantId: string, body: object, base: Revision, within: string): Promise<CheckedRollout> {
    const rollout = read(body, within);
    const isBase =
      rollout.base_revision === undefined || [base.id, base.name, String(base.number)].includes(rollout.base_revision);
    if (!isBase)
      refuse([{ field: `${within}.base_revision`, code: 'not_base', message: `base_revision must be ${base.name}` }]);
    const spec = rollout.spec
      ? completeSpec(rollout.spec)
      : patchedSpec(base.spec, rollout.spec_patch ?? {}, `${within}.spec_patch`);
    const path = `${within}.${rollout.spec ? 'spec' : 'spec_patch'}`;
    const issues = await this.instances.check(tx, tenantId, spec);
    refuse(issues.map((issue) => ({ ...issue, field: `${path}.${issue.field}` })));
    return { body: JSON.parse(JSON.stringify(rollout)) as Record<string, unknown>, spec, specDigest: digestOf(spec) };
  }

  preview(
    { strategy: requestedStrategy, analysis: requestedAnalysis }: Pick<RolloutDto, 'strategy' | 'analysis'>,
    { runtime }: RevisionSpec,
    { defaultStrategy, defaultAnalysis }: Pick<Deployment, 'defaultStrategy' | 'defaultAnalysis'>,
  ): RolloutPreview {
    const chosen = chooseStrategy(requestedStrategy, defaultStrategy);
    // A default that the deployment got from an earlier version has steps without `pause`.
    const strategy = { ...chosen, steps: chosen.steps.map((step) => ({ ...step, pause: step.pause ?? false })) };
    const analysis = chooseGate(rolloutSteps(strategy, false), requestedAnalysis, defaultAnalysis);
    return { strategy, analysis, target: runtime.target, is_gated: analysis !== null };
  }
}

function read(body: object, within: string): RolloutDto {
  const findings = newFindings();
  const rollout = readObject(RolloutDto, body, within, findings) as RolloutDto;
  const { mistyped, broken } = findings;
  const hints = unknownIssues(findings.unknown);
  if (mistyped.length > 0) throw errors.invalid_parameter({ details: [...mistyped, ...hints] });
  if (broken.length > 0) refuse([...broken, ...hints]);
  reportUnknown(findings.unknown);
  return rollout;
}

function refuse(details: FieldIssue[]): void {
  if (details.length > 0) throw errors.validation_failed({ details });
}

/** Strategy and capacity of a rollout or rollback, as its target is when the operation is accepted. */
export interface CapacityDecision {
  strategy: Strategy;
  capacity: CapacityForecast;
  changeover?: ChangeoverInput;
}

/** Decides whether a revision runs next to the running ones, or whether they stop first. */
@Injectable()
export class CapacityPlanner {
  constructor(
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /**
   * @throws capacity_exhausted (409) if the strategy stops nothing, and waiting would never free the capacity that it
   * needs
   */
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
    const capacity = await this.instances.forecastCapacity(tx, { ...candidate, takesOver });
    const strategy = resolveAuto(requested, { hasPrevious: stops.length > 0, capacity });
    if (strategy.type === 'recreate' && stops.length > 0) {
      const { hold_seconds: holdSeconds = HOLD_SECONDS.default } = strategy;
      const estimatedSeconds = await this.instances.startSeconds(tx, deploymentId);
      const changeover = { stops, holdSeconds, estimatedSeconds };
      const after = await this.instances.forecastCapacity(tx, {
        ...candidate,
        takesOver: takeOverFrom(stops, changeover),
      });
      return { strategy, capacity: after, changeover };
    }
    if (isExhausted(capacity)) throw capacityExhausted(capacity);
    return { strategy, capacity };
  }

  /**
   * If a rollback's target is down and does not fit next to the running revisions of the deployment, they stop first.
   * Capacity that other deployments use is waited for.
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
    const capacity = await this.instances.forecastCapacity(tx, { ...candidate, takesOver: takeOverFrom(stops) });
    if ((status?.ready ?? 0) > 0 || hasCapacity(capacity) || capacity.own === 0) return { capacity };
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
    return { capacity: after, changeover };
  }
}

/** The effect of the rollout, as a rehearsal reports it. */
export function wouldDo(revisionName: string, { changeover }: CapacityDecision): string {
  if (!changeover) return `roll out ${revisionName}`;
  const { stops, holdSeconds, estimatedSeconds } = changeover;
  const names = stops.map((one) => one.revisionName).join(', ');
  const gap =
    estimatedSeconds === null ? `until ${revisionName} has started` : `for about ${Math.ceil(estimatedSeconds)} s`;
  return `roll out ${revisionName} with strategy recreate: ${names} stops first, and no revision serves ${gap}; each request waits for at most ${holdSeconds} s`;
}

function capacityExhausted({ target, resource, needed, total, free, own, isShare }: CapacityForecast): Error {
  const what = resource === 'device' ? 'devices' : 'instances';
  const available = isShare
    ? `The tenant may use at most ${total} ${what} of target ${target}, which tenants share, and ${free} of them are free`
    : resource === 'device'
      ? `Target ${target} has ${free} of ${total} devices free`
      : `Target ${target} has free capacity for ${free} of ${total} instances`;
  const message = `${available}; ${needed} are needed and this deployment already uses ${own}. Use strategy recreate, which stops these first, or auto, which does so if capacity is missing.`;
  const capacity = { target, resource, needed, total, free, own };
  return rolloutErrors.capacity_exhausted({ message, extra: { capacity } });
}

/**
 * Whether there is enough capacity after the deployment's other revisions have stopped. If not, the operation waits for
 * the capacity of others before it stops anything.
 */
export function hasCapacityAfterStop({
  free,
  own,
  needed,
}: Pick<CapacityForecast, 'free' | 'own' | 'needed'>): boolean {
  return free === null || free + own >= needed;
}

/** Replaces `auto` by a concrete strategy. Returns any other strategy unchanged. */
export function resolveAuto(
  strategy: Strategy,
  { hasPrevious, capacity }: { hasPrevious: boolean; capacity: CapacityForecast },
): Strategy {
  if (strategy.type !== 'auto') return strategy;
  const { steps, hold_seconds } = strategy;
  if (!hasPrevious || hasCapacity(capacity) || capacity.own === 0) return { type: 'canary', steps };
  const soak_seconds = steps.at(-1)?.soak_seconds ?? DEFAULT_SOAK_SECONDS;
  return {
    type: 'recreate',
    steps: [{ traffic_percent: 100, soak_seconds, requires_approval: false, pause: false }],
    hold_seconds,
  };
}

/** The capacity for the new revision, as a rehearsal shows it. */
export function capacityAnswer(
  { target, needed, free }: CapacityForecast,
  changeover: ChangeoverInput | undefined,
): CapacityDto {
  return { target, needed, free, gap_seconds: changeover ? changeover.estimatedSeconds : 0 };
}
