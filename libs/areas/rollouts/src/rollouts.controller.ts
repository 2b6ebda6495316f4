import { Body, Controller, Inject, Injectable, Param } from '@nestjs/common';
import {
  CurrentPrincipal,
  Idempotency,
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
import { RollbackDto, RolloutDto, RolloutRehearsalDto } from './rollout.dto.js';
import { RolloutsService } from './rollouts.service.js';

/** The 404 of an unknown deployment wins over a body that breaks a rule. */
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
  ) {}

  @Route({
    method: 'POST',
    path: '/deployments/:name/rollouts',
    scope: 'operator',
    tag: 'Revisions',
    operationId: 'createRollout',
    summary: 'Create a candidate revision and roll it out',
    description:
      'Builds the candidate of `spec`, or of `spec_patch` on the active revision, beside the one that serves, proves it ready, and moves the traffic as `strategy` says: `candidate` (unless the deployment has another default) moves none, `immediate` all at once, `canary` and `blue_green` step by step with `analysis`. `recreate` stops what serves before it starts the candidate, for targets without room for both: requests wait for at most `hold_seconds` each. Whatever fails puts back the route it found. `GET /targets` says which targets and engines there are. Answers 202 with an operation.',
    example: {
      spec: { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim' } },
      strategy: { type: 'immediate' },
      reason: 'First revision',
    },
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RolloutRehearsalDto] },
    errors: [
      'deployment_not_found',
      'revision_not_found',
      'idempotency_key_reused',
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
    idempotent: true,
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
    summary: 'Roll back to a prior revision',
    description:
      'Points the traffic back at an earlier revision, the same immutable one, which is brought up before anything moves. Where the target has no room for both, what runs is stopped first, and requests wait. Without `to_revision` it picks the last good one. A running rollout is superseded. Works while the active revision is dead. Answers 202 with an operation.',
    example: { reason: 'Worse answers' },
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RolloutRehearsalDto] },
    errors: [
      'deployment_not_found',
      'revision_not_found',
      'no_previous_revision',
      'idempotency_key_reused',
      'operation_in_progress',
      'revision_already_active',
      'revision_not_restorable',
    ],
    idempotent: true,
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
}
