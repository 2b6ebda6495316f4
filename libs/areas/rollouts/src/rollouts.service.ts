import type { Actor, RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type QuotaConfig } from '@slipway/platform-config';
import { digestOf, type Tx } from '@slipway/platform-database';
import { errors, jsonPatch, type IdempotencyClaim, type Principal, type Reply } from '@slipway/platform-http';
import type { NewEvent } from '@slipway/platform-durable/events';
import { OperationRequests, type AcceptedOperation } from '@slipway/platform-durable/operations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { PLANS, type PlansPort } from '@slipway/ports/plans';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';
import { REVISIONS, type NewRevision, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import {
  capacityAnswer,
  CapacityPlanner,
  wouldDo,
  assertActiveRevision,
  assertAdmitted,
  assertKeepsForBake,
  assertKeepsNothing,
  assertRolloutAllowed,
  assertWithinQuotas,
  completeSpec,
  patchedSpec,
  progressDeadlineSeconds,
} from './acceptance.js';
import type { RolloutDto } from './rollout.dto.js';
import {
  changeoverResult,
  chooseGate,
  chooseStrategy,
  movesTraffic,
  rolloutSteps,
  type Gate,
  type RolloutInput,
  type Strategy,
} from './rollout.input.js';
import { ROLLOUT } from './rollout.operation.js';
import { warnOfNoRoute } from './steps/route.js';

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
    private readonly requests: OperationRequests,
    private readonly planner: CapacityPlanner,
    @Inject(CONFIG) private readonly config: QuotaConfig,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(PLANS) private readonly plans: PlansPort,
  ) {}

  /**
   * Locks the deployment, determines the spec (404, 422), checks (409, 412, 429), writes the revision and starts the
   * operation.
   */
  async create({ principal, deploymentName, body: requested, ...request }: RolloutRequest): Promise<Reply> {
    await this.instances.resolveNames(principal.tenantName, requested.spec ?? requested.spec_patch);
    const { tenantId, actor } = principal;
    const resource = { resourceType: 'deployment', resourceName: deploymentName, reason: requested.reason };
    return this.requests.accept(ROLLOUT, { principal, ...request, ...resource }, async (tx, operationId) => {
      const deployment = await this.deployments.lock(tx, tenantId, deploymentName);

      // Determine the spec and the strategy.
      const body = await this.completeFromPlan(tx, deployment, requested);
      const active = await this.activeRevision(tx, deployment);
      const requestedStrategy = chooseStrategy(body.strategy, deployment.defaultStrategy);
      assertKeepsNothing(requestedStrategy, body);
      assertKeepsForBake(requestedStrategy, body);
      const { spec, base } = await this.resolveSpec(tx, deployment, body, active);

      // Check that it may start.
      await this.assertRunnable(tx, tenantId, spec, body);
      assertActiveRevision(body.expected_active_revision, active);
      assertRolloutAllowed(deployment);
      assertAdmitted(deployment, body.plan_id);
      await this.assertExecutable(tx, deployment, body, spec);

      // Check that the target and the quotas have capacity.
      const specDigest = digestOf(spec);
      const { kept, next: number, same: reused } = await this.revisions.withDigest(tx, deployment.id, specDigest);
      const foundRoute = (await this.routes.current(tx, deployment.id)) ?? null;
      if (reused && hasAllTraffic(foundRoute, reused) && reused.id === deployment.activeRevisionId)
        return unchanged({ deployment, revision: reused, route: foundRoute, strategy: requestedStrategy, body });

      const target = { spec, reused, route: foundRoute ?? undefined };
      const decision = await this.planner.forRollout(tx, deployment, requestedStrategy, target);
      const { strategy, capacity, changeover } = decision;
      const freed = changeover ? capacity.own : 0;
      const counts = { reused, kept, wanted: capacity.wanted, replicas: capacity.replicas, freed };
      await assertWithinQuotas(tx, { config: this.config, instances: this.instances }, principal, counts);

      // Write the revision, take the traffic, mark the deployment.
      const source = { operation_id: operationId, plan_id: body.plan_id ?? null, base_revision: base?.name ?? null };
      const candidate: NewRevision = {
        deployment,
        number,
        spec,
        specDigest,
        source: { kind: body.plan_id ? 'plan' : 'rollout', ...source },
        changeRef: body.change_ref ?? null,
        createdBy: actor,
      };
      const revision = reused ?? (await this.revisions.create(tx, candidate));
      if (movesTraffic(strategy)) await this.routes.takeTraffic(tx, deployment.id, operationId);
      else if (!foundRoute) warnOfNoRoute(deploymentName);
      await this.deployments.update(tx, deployment.id, {
        currentOperationId: operationId,
        candidateRevisionId: revision.id,
        state: 'progressing',
      });

      // Start the operation. A recreate that stops nothing is a first rollout.
      const isFirst = strategy.type === 'recreate' ? !changeover : active === undefined;
      const steps = rolloutSteps(strategy, isFirst);
      // A plan was approved with the gate of its time: a default that the deployment got later does not apply.
      const gate = chooseGate(steps, body.analysis, body.plan_id ? null : deployment.defaultAnalysis);
      const input: RolloutInput = {
        deploymentId: deployment.id,
        deploymentName,
        revisionId: revision.id,
        revisionName: revision.name,
        isReused: reused !== undefined,
        strategy,
        analysis: gate,
        planId: body.plan_id ?? null,
        progressDeadlineSeconds:
          body.progress_deadline_seconds ?? progressDeadlineSeconds(this.instances.traits(revision.spec)),
        keepPreviousSeconds: changeover ? 0 : keptSeconds(strategy, body),
        foundRoute,
        foundActiveRevisionId: deployment.activeRevisionId,
        changeover,
      };
      const about = { actor, operationId };
      return {
        resourceId: deployment.id,
        stream: deploymentStream(deployment.id),
        input,
        steps,
        result: rolloutResult(input, gate),
        audit: {
          action: 'rollout.create',
          resourceType: 'deployment',
          resourceName: deploymentName,
          after: revision.spec,
        },
        events: [
          ...(reused ? [] : [this.revisions.event('revision.created', revision, about)]),
          rolloutStarted(input, { ...about, steps, gate, reason: body.reason }),
        ],
        rehearsal: {
          would: wouldDo(revision.name, decision),
          diff: jsonPatch(active?.spec ?? {}, spec),
          more: { strategy: strategy.type, capacity: capacityAnswer(capacity, changeover) },
        },
      };
    });
  }

  private async activeRevision(tx: Tx, { activeRevisionId }: Deployment): Promise<Revision | undefined> {
    return activeRevisionId === null ? undefined : this.revisions.get(tx, activeRevisionId);
  }

  /** Completes the body of a rollout that executes a plan with the values of the plan. */
  private async completeFromPlan(
    tx: Tx,
    { id: deploymentId, tenantId }: Deployment,
    body: RolloutDto,
  ): Promise<RolloutDto> {
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
    const message =
      'the deployment has no active revision that spec_patch could apply to; send a complete spec or set base_revision';
    throw errors.validation_failed({ details: [{ field: 'spec_patch', code: 'no_base', message }] });
  }

  private async assertRunnable(tx: Tx, tenantId: string, spec: RevisionSpec, body: RolloutDto): Promise<void> {
    const within = body.spec ? 'spec' : 'spec_patch';
    const issues = await this.instances.check(tx, tenantId, spec);
    const details = issues.map((issue) => ({ ...issue, field: `${within}.${issue.field}` }));
    if (details.length > 0) throw errors.validation_failed({ details });
  }
}

/** Without traffic of another revision, there is nothing that a rollout of this one would change. */
function hasAllTraffic(route: Route | null, { id }: Revision): route is Route {
  return (
    route !== null &&
    route.targets.every(({ revisionId, weight }) => (revisionId === id ? weight === 100 : weight === 0))
  );
}

/** The operation of a rollout that changes nothing: it has no candidate, takes no traffic, and only says so. */
function unchanged({
  deployment,
  revision,
  route,
  strategy,
  body,
}: {
  deployment: Deployment;
  revision: Revision;
  route: Route;
  strategy: Strategy;
  body: RolloutDto;
}): AcceptedOperation<typeof ROLLOUT> {
  const input: RolloutInput = {
    deploymentId: deployment.id,
    deploymentName: deployment.name,
    revisionId: revision.id,
    revisionName: revision.name,
    isReused: true,
    isUnchanged: true,
    strategy,
    analysis: null,
    planId: body.plan_id ?? null,
    progressDeadlineSeconds: progressDeadlineSeconds(undefined),
    keepPreviousSeconds: 0,
    foundRoute: route,
    foundActiveRevisionId: revision.id,
  };
  return {
    resourceId: deployment.id,
    stream: deploymentStream(deployment.id),
    input,
    steps: ['validate'],
    result: { revision: revision.name, revision_id: revision.id, reused: true, strategy: strategy.type },
    audit: {
      action: 'rollout.create',
      resourceType: 'deployment',
      resourceName: deployment.name,
      after: revision.spec,
    },
    rehearsal: {
      would: `change nothing: ${revision.name} has this spec and all traffic already`,
      more: {
        strategy: strategy.type,
        capacity: { target: revision.spec.runtime.target, needed: 0, free: null, gap_seconds: 0 },
      },
    },
  };
}

/** How long the previous revision stays warm: at least as long as the bake may roll back to it. */
function keptSeconds({ bake }: Strategy, { keep_previous_seconds: kept }: RolloutDto): number {
  return kept ?? Math.max(KEEP_PREVIOUS_SECONDS, bake?.seconds ?? 0);
}

function rolloutResult({ revisionName, revisionId, isReused, strategy, changeover }: RolloutInput, gate: Gate | null) {
  return {
    revision: revisionName,
    revision_id: revisionId,
    ...(isReused ? { reused: true } : {}),
    strategy: strategy.type,
    strategy_steps: strategy.steps,
    ...(changeover && changeoverResult(changeover)),
    gate,
  };
}

function rolloutStarted(
  { deploymentName, revisionId, revisionName, strategy }: RolloutInput,
  about: { actor: Actor; operationId: string; steps: readonly string[]; gate: Gate | null; reason?: string },
): NewEvent {
  const { actor, operationId, steps, gate, reason = null } = about;
  return {
    type: 'rollout.started',
    subject: `deployments/${deploymentName}`,
    actor,
    operationId,
    revisionId,
    data: { operation_id: operationId, revision: revisionName, strategy: strategy.type, steps, gate, reason },
  };
}
