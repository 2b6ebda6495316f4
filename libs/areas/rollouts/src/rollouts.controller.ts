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
import { OperationEnvelopeDto } from '@slipway/platform-operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { RollbacksService } from './rollbacks.service.js';
import { RollbackDto, RolloutDto } from './rollout.dto.js';
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
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RehearsalDto] },
    errors: [
      'deployment_not_found',
      'revision_not_found',
      'idempotency_key_reused',
      'precondition_failed',
      'operation_in_progress',
      'plan_not_found',
      'plan_not_approved',
      'plan_expired',
      'plan_stale',
      'plan_digest_mismatch',
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
    ok: { 202: OperationEnvelopeDto, 200: [OperationEnvelopeDto, RehearsalDto] },
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
