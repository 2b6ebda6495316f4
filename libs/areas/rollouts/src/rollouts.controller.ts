import { Body, Controller, Inject, Injectable, Param } from '@nestjs/common';
import {
  CurrentPrincipal,
  Idempotency,
  RehearsalDto,
  Route,
  ValidateOnly,
  type ExistenceCheck,
  type IdempotencyClaim,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { OperationEnvelopeDto } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { RollbacksService } from './rollbacks.service.js';
import { RestartDto, RollbackDto, RolloutDto, RolloutRehearsalDto } from './rollout.dto.js';
import { RestartsService } from './restarts.service.js';
import { RolloutsService } from './rollouts.service.js';

/** The 404 of an unknown deployment takes precedence over a body that breaks a rule. */
@Injectable()
export class DeploymentExists implements ExistenceCheck {
  constructor(@Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort) {}

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.deployments.idOf(tenantId, params['name'] as string);
  }
}

@Controller()
export class RolloutsController {
  constructor(
    private readonly rollouts: RolloutsService,
    private readonly rollbacks: RollbacksService,
    private readonly restarts: RestartsService,
  ) {}

  @Route({
    method: 'POST',
    path: '/deployments/:name/rollouts',
    scope: 'operator',
    tag: 'Revisions',
    operationId: 'createRollout',
    summary: 'Create a rollout',
    description:
      'Starts a candidate from `spec`, or from `spec_patch` on the active revision, alongside the serving revision. Waits until it is ready, and moves the traffic according to `strategy`: `candidate` (unless the deployment has another default) moves none, `immediate` moves all at once, `canary` and `blue_green` move it step by step with `analysis`. `recreate` stops the serving revision before it starts the candidate, for targets without capacity for both; each request waits for at most `hold_seconds`. A failed rollout restores the previous route. `GET /targets` lists targets and engines. Returns 202 with the operation.',
    example: {
      spec: { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim' } },
      strategy: { type: 'immediate' },
      reason: 'First revision',
    },
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RolloutRehearsalDto] },
    errors: [
      'deployment_not_found',
      'revision_not_found',
      'precondition_failed',
      'operation_in_progress',
      'plan_not_found',
      'plan_required',
      'plan_not_approved',
      'plan_expired',
      'plan_stale',
      'plan_digest_mismatch',
      'quota_exceeded',
      'capacity_exhausted',
    ],
    dryRun: true,
    notFoundFirst: DeploymentExists,
  })
  createRollout(
    @CurrentPrincipal() principal: Principal,
    @Param('name') deploymentName: string,
    @Body() body: RolloutDto,
    @Idempotency() idempotency: IdempotencyClaim | undefined,
    @ValidateOnly() isDryRun: boolean,
  ): Promise<Reply> {
    return this.rollouts.create({ principal, deploymentName, body, idempotency, isDryRun });
  }

  @Route({
    method: 'POST',
    path: '/deployments/:name/rollback',
    scope: 'operator',
    tag: 'Revisions',
    operationId: 'createRollback',
    summary: 'Roll back a deployment',
    description:
      'Starts an earlier revision, unchanged, and moves all traffic to it once it is ready. If the target has no capacity for both, the running revisions stop first and requests wait. Without `to_revision` it selects the last good revision. It supersedes a running rollout, and works even if the active revision is down. Returns 202 with the operation.',
    example: { reason: 'Worse responses' },
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RolloutRehearsalDto] },
    errors: [
      'deployment_not_found',
      'revision_not_found',
      'no_previous_revision',
      'operation_in_progress',
      'revision_already_active',
      'revision_not_restorable',
    ],
    dryRun: true,
    notFoundFirst: DeploymentExists,
  })
  createRollback(
    @CurrentPrincipal() principal: Principal,
    @Param('name') deploymentName: string,
    @Body() body: RollbackDto,
    @Idempotency() idempotency: IdempotencyClaim | undefined,
    @ValidateOnly() isDryRun: boolean,
  ): Promise<Reply> {
    return this.rollbacks.create({ principal, deploymentName, body, idempotency, isDryRun });
  }

  @Route({
    method: 'POST',
    path: '/deployments/:name/restart',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'restartDeployment',
    summary: 'Restart the instances',
    description:
      'Restarts the instances of the revisions that serve, one after the other. With capacity for one more instance, that one starts first. Without it, each instance restarts while the others serve; a revision with one instance restarts while requests wait at the gateways for at most `hold_seconds`. The route stays, and requests in flight end first, within `drain_seconds` of the deployment. A restart that fails stops no further instance, and a retry continues with those that are left. Adopted servers are never restarted. Returns 202 with the operation.',
    example: { reason: 'Read the new certificate' },
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RehearsalDto] },
    errors: ['deployment_not_found', 'operation_in_progress', 'nothing_to_restart', 'restart_not_supported'],
    dryRun: true,
    notFoundFirst: DeploymentExists,
  })
  restartDeployment(
    @CurrentPrincipal() principal: Principal,
    @Param('name') deploymentName: string,
    @Body() body: RestartDto,
    @Idempotency() idempotency: IdempotencyClaim | undefined,
    @ValidateOnly() isDryRun: boolean,
  ): Promise<Reply> {
    return this.restarts.create({ principal, deploymentName, body, idempotency, isDryRun });
  }
}
