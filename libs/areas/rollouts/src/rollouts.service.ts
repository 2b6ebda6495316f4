import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type QuotaConfig } from '@slipway/platform-config';
import { digestOf, type Tx } from '@slipway/platform-database';
import {
  errors,
  jsonPatch,
  rehearsal,
  type IdempotencyClaim,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit } from '@slipway/platform-mutations';
import { appendEvents } from '@slipway/platform-events';
import { GatheredAccepts, operationAnswer, OperationStore, type Turn } from '@slipway/platform-operations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { PLANS, type PlansPort } from '@slipway/ports/plans';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { REVISIONS, revisionEvent, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import type { RevisionSpec } from '@slipway/contracts';
import { completeSpec, patchedSpec } from './candidate-spec.js';
import { warnOfNoRoute } from './no-route.js';
import type { RolloutDto } from './rollout.dto.js';
import { assertWithinQuotas } from './rollout-quotas.js';
import { ROLLOUT } from './rollout.operation.js';
import {
  assertActiveRevision,
  assertAdmitted,
  capacityOf,
  heldResult,
  rolloutAllowed,
  type RolloutInput,
} from './rollout.input.js';
import { chooseGate, chooseStrategy, movesTraffic, rolloutSteps } from './rollout.plan.js';
import { assertKeepsNothing, Settlements, wouldDo, type Settlement } from './settlement.js';

const PROGRESS_DEADLINE_SECONDS = 600;
/** Beyond what an engine's template allows a start: so that how it ended can still be told. */
const START_MARGIN_SECONDS = 30;
const KEEP_PREVIOUS_SECONDS = 3_600;

export interface RolloutRequest {
  principal: Principal;
  deploymentName: string;
  body: RolloutDto;
  idempotency?: IdempotencyClaim;
  isDryRun: boolean;
}

@Injectable()
export class RolloutsService {
  constructor(
    private readonly accepts: GatheredAccepts,
    private readonly operations: OperationStore,
    private readonly settlements: Settlements,
    @Inject(CONFIG) private readonly config: QuotaConfig,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(PLANS) private readonly plans: PlansPort,
  ) {}

  /**
   * Accepts a rollout: claim, lock, check, write, in one transaction, which it may share with others; a rehearsal does the same and
   * rolls back. Whoever executes a plan locks that too, and goes alone.
   */
  create(asked: RolloutRequest): Promise<Reply> {
    const { principal, deploymentName: resource, isDryRun, idempotency } = asked;
    const { tenantId } = principal;
    const accept = (tx: Tx, turn: Turn) => this.accept(tx, turn, asked);
    if (isDryRun || asked.body.plan_id) return this.accepts.single({ tenantId, accept }, { dryRun: isDryRun });
    return this.accepts.add({ tenantId, resource, idempotency, accept });
  }

  private async accept(tx: Tx, turn: Turn, asked: RolloutRequest): Promise<Reply> {
    const { principal, deploymentName, isDryRun } = asked;
    const claiming = turn.claim({
      operation: ROLLOUT,
      resourceType: 'deployment',
      resourceName: deploymentName,
      requestedBy: principal.actor,
      reason: asked.body.reason,
      idempotency: isDryRun ? undefined : asked.idempotency,
    });
    // Sent with the claim. What it finds counts for a first request only: a repeated one has its answer also without a deployment.
    const locking = this.deployments.lock(tx, principal.tenantId, deploymentName);
    locking.catch(() => undefined);
    const claim = await claiming;
    if (!claim.created) return operationAnswer(claim.id, (await this.operations.record(tx, claim.id)) as string, false);
    const deployment = await locking;
    const body = await this.planned(tx, deployment, asked.body);
    const request = { ...asked, body };
    const { activeRevisionId } = deployment;
    const active = activeRevisionId === null ? undefined : await this.revisions.get(tx, activeRevisionId);
    const strategy = chooseStrategy(body.strategy, deployment.defaultStrategy);
    assertKeepsNothing(strategy, body);
    const { spec, base } = await this.resolveSpec(tx, deployment, body, active);
    await this.assertRunnable(tx, principal.tenantId, spec, body);
    assertActiveRevision(body.expected_active_revision, active);
    rolloutAllowed(deployment);
    assertAdmitted(deployment, body.plan_id);
    await this.assertExecutable(tx, deployment, body, spec);

    const specDigest = digestOf(spec);
    const [{ kept, next, same: reused }, foundRoute] = await Promise.all([
      this.revisions.withDigest(tx, deployment.id, specDigest),
      this.routes.current(tx, deployment.id),
    ]);
    const settlement = await this.settlements.ofRollout(tx, deployment, strategy, { spec, reused, route: foundRoute });
    const { replicas, own, wanted } = settlement.room;
    const freed = settlement.changeover ? own : 0;
    const { config, instances } = this;
    await assertWithinQuotas(tx, { config, instances }, principal, { reused, kept, wanted, replicas, freed });
    await turn.toWrite();
    const { revision, written } = reused
      ? { revision: { ...reused, isReused: true }, written: undefined }
      : this.newRevision(tx, request, deployment, { number: next, spec, specDigest, base, operationId: claim.id });
    const [begun] = await Promise.all([
      this.begin(tx, request, deployment, revision, foundRoute ?? null, settlement, claim.id),
      written,
    ]);
    if (!isDryRun) return operationAnswer(claim.id, begun.record, true);
    const { room, changeover } = settlement;
    const more = { strategy: settlement.strategy.type, capacity: capacityOf(room, changeover) };
    return rehearsal(wouldDo(revision.name, settlement), begun.steps, jsonPatch(active?.spec ?? {}, spec), more);
  }

  /** The body of a rollout that executes a plan, completed from the plan. */
  private async planned(tx: Tx, { id: deploymentId, tenantId }: Deployment, body: RolloutDto): Promise<RolloutDto> {
    if (!body.plan_id) return body;
    const plan = (await this.plans.rolloutOf(tx, {
      tenantId,
      planId: body.plan_id,
      deploymentId,
    })) as unknown as RolloutDto;
    if (body.spec || body.spec_patch)
      return { ...body, strategy: body.strategy ?? plan.strategy, analysis: body.analysis ?? plan.analysis };
    const { plan_id, reason = plan.reason, change_ref = plan.change_ref, expected_active_revision } = body;
    const { strategy = plan.strategy, analysis = plan.analysis } = body;
    return { ...plan, plan_id, reason, change_ref, expected_active_revision, strategy, analysis };
  }

  private async assertExecutable(
    tx: Tx,
    deployment: Deployment,
    { plan_id: planId, strategy, analysis }: RolloutDto,
    spec: RevisionSpec,
  ): Promise<void> {
    if (!planId) return;
    const { id: deploymentId, tenantId, activeRevisionId } = deployment;
    const plan = { tenantId, planId, deploymentId, activeRevisionId, specDigest: digestOf(spec) };
    await this.plans.assertExecutable(tx, { ...plan, strategy, analysis });
  }

  private async resolveSpec(
    tx: Tx,
    deployment: Deployment,
    body: RolloutDto,
    active: Revision | undefined,
  ): Promise<{ spec: RevisionSpec; base: Revision | undefined }> {
    const base = body.base_revision ? await this.revisions.find(tx, deployment.id, body.base_revision) : active;
    if (body.spec) return { spec: completeSpec(body.spec), base };
    if (base) return { spec: patchedSpec(base.spec, body.spec_patch ?? {}), base };
    const message = 'there is no active revision for spec_patch to apply to; send the whole spec or name base_revision';
    throw errors.validation_failed({ details: [{ field: 'spec_patch', code: 'no_base', message }] });
  }

  private async assertRunnable(tx: Tx, tenantId: string, spec: RevisionSpec, body: RolloutDto): Promise<void> {
    const within = body.spec ? 'spec' : 'spec_patch';
    const issues = await this.instances.check(tx, tenantId, spec);
    const details = issues.map((issue) => ({ ...issue, field: `${within}.${issue.field}` }));
    if (details.length > 0) throw errors.validation_failed({ details });
  }

  private newRevision(
    tx: Tx,
    { body, principal }: RolloutRequest,
    deployment: Deployment,
    of: { number: number; spec: RevisionSpec; specDigest: string; base: Revision | undefined; operationId: string },
  ) {
    const { number, spec, specDigest, base, operationId } = of;
    const kind = body.plan_id ? 'plan' : 'rollout';
    const source = {
      kind,
      operation_id: operationId,
      plan_id: body.plan_id ?? null,
      base_revision: base?.name ?? null,
    } as const;
    const { revision, written } = this.revisions.create(tx, {
      deployment,
      number,
      spec,
      specDigest,
      source,
      changeRef: body.change_ref ?? null,
      createdBy: principal.actor,
    });
    return { revision: { ...revision, isReused: false }, written };
  }

  /** An engine that may load for half an hour is not given up after ten minutes; its own limit comes first and says more. */
  private progressDeadline({ spec }: Revision): number {
    const readySeconds = this.instances.traits(spec)?.readyTimeoutSeconds ?? 0;
    return Math.max(PROGRESS_DEADLINE_SECONDS, readySeconds + START_MARGIN_SECONDS);
  }

  private async begin(
    tx: Tx,
    request: RolloutRequest,
    deployment: Deployment,
    revision: Revision & { isReused: boolean },
    foundRoute: RolloutInput['foundRoute'],
    { strategy, changeover }: Settlement,
    operationId: string,
  ): Promise<{ steps: string[]; record: string }> {
    const { body, principal } = request;
    // What stops nothing is no recreate, also where the strategy is one.
    const isFirst = strategy.type === 'recreate' ? !changeover : deployment.activeRevisionId === null;
    const steps = rolloutSteps(strategy, isFirst);
    const gate = chooseGate(steps, body.analysis, deployment.defaultAnalysis);
    if (movesTraffic(strategy)) await this.routes.takeTraffic(tx, deployment.id, operationId);
    else if (!foundRoute) warnOfNoRoute(deployment.name);
    const input: RolloutInput = {
      deploymentId: deployment.id,
      deploymentName: deployment.name,
      revisionId: revision.id,
      revisionName: revision.name,
      isReused: revision.isReused,
      strategy,
      analysis: gate,
      planId: body.plan_id ?? null,
      progressDeadlineSeconds: body.progress_deadline_seconds ?? this.progressDeadline(revision),
      keepPreviousSeconds: body.keep_previous_seconds ?? (changeover ? 0 : KEEP_PREVIOUS_SECONDS),
      foundRoute,
      foundActiveRevisionId: deployment.activeRevisionId,
      changeover,
    };
    const stream = deploymentStream(deployment.id);
    const result = {
      revision: revision.name,
      revision_id: revision.id,
      ...(revision.isReused ? { reused: true } : {}),
      strategy: strategy.type,
      strategy_steps: strategy.steps,
      ...(changeover && heldResult(changeover)),
      gate,
    };
    const started = {
      type: 'rollout.started',
      subject: `deployments/${deployment.name}`,
      actor: principal.actor,
      operationId,
      revisionId: revision.id,
      data: {
        operation_id: operationId,
        revision: revision.name,
        strategy: strategy.type,
        steps,
        gate,
        reason: body.reason ?? null,
      },
    };
    const created = revision.isReused
      ? []
      : [revisionEvent('revision.created', revision, { actor: principal.actor, operationId })];
    // One statement each, sent together. The deployment is locked, so it matters to nobody when its row is written; the stream is locked last.
    const [, , , , record] = await Promise.all([
      this.deployments.update(tx, deployment.id, {
        currentOperationId: operationId,
        candidateRevisionId: revision.id,
        state: 'progressing',
      }),
      this.operations.start(tx, [
        { id: operationId, operation: ROLLOUT, resourceId: deployment.id, stream, input, steps, result },
      ]),
      appendAudit(tx, {
        action: 'rollout.create',
        resourceType: 'deployment',
        resourceName: deployment.name,
        after: revision.spec,
      }),
      appendEvents(tx, principal.tenantId, stream, [...created, started]),
      this.operations.record(tx, operationId),
    ]);
    return { steps, record: record as string };
  }
}
