import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import type { IdempotencyClaim, Principal } from '@slipway/platform-http';
import {
  defineOperation,
  done,
  inputOf,
  OperationRequests,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { deploymentStream, type BakeDto } from '@slipway/ports/deployment-records';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import type { RolloutContext } from './rollout.input.js';

/** The input of the step of a bake. */
export interface BakeInput {
  deploymentId: string;
  deploymentName: string;
  revisionId: string;
  revisionName: string;
  /** The revision that a breach rolls back to. */
  previousRevisionId: string;
  /** The route after the promotion. Any other generation ends the bake. */
  generation: number;
  bake: BakeDto;
}

/**
 * Watches a revision after its promotion, and rolls back at a breach. It owns no traffic: whatever else changes the
 * traffic ends it.
 */
export const BAKE = defineOperation({ kind: 'bake', input: inputOf<BakeInput>(), steps: ['watch'] });

/** The actor of rollbacks that a bake begins. */
export const BAKER = { type: 'system', id: 'bake' } as const;

@Injectable()
export class BakeStarter {
  constructor(
    private readonly database: Database,
    private readonly requests: OperationRequests,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /** The last step of a rollout whose strategy bakes. A repeat finds the operation that it has begun. */
  async begin(context: RolloutContext): Promise<StepOutcome> {
    const { operation, input, effectKey } = context;
    const { deploymentId, deploymentName, revisionId, revisionName, foundActiveRevisionId } = input;
    const { bake } = input.strategy;
    if (!bake || foundActiveRevisionId === null || foundActiveRevisionId === revisionId)
      return done({ skipped: true, message: 'There is no previous revision to roll back to.' });
    const route = await this.database.tx('system', (tx) => this.routes.current(tx, deploymentId));
    if (!route) return done({ skipped: true, message: 'The deployment has no route.' });
    const resource = { resourceType: 'deployment', resourceName: deploymentName };
    const request = {
      principal: systemPrincipal(operation.tenantId),
      idempotency: claimOf(effectKey, `/api/v1/operations/${operation.id}/bake`),
      isDryRun: false,
      ...resource,
    };
    const answer = await this.requests.accept(BAKE, request, async () => ({
      resourceId: deploymentId,
      stream: deploymentStream(deploymentId),
      steps: BAKE.steps,
      input: {
        deploymentId,
        deploymentName,
        revisionId,
        revisionName,
        previousRevisionId: foundActiveRevisionId,
        generation: route.generation,
        bake,
      },
      result: { rollout_operation_id: operation.id, revision: revisionName },
      audit: { action: 'bake.begin', actor: BAKER, ...resource },
    }));
    const id = String(answer.headers?.['location']).split('/').at(-1);
    return done({
      message: `Watching ${revisionName} for ${bake.seconds} s more.`,
      operationResult: { bake_operation_id: id },
    });
  }
}

export function systemPrincipal(tenantId: string): Principal {
  return {
    tenantId,
    tenantName: '',
    isOperatorTenant: false,
    actor: BAKER,
    scopes: new Set(['operator']),
    owner: { type: 'service', id: 'slipway' },
    minters: [],
  };
}

/** The claim of a request that only this step makes. */
export function claimOf(effectKey: string, path: string): IdempotencyClaim {
  return { method: 'POST', path, key: effectKey, fingerprint: createHash('sha256').update(effectKey).digest('hex') };
}
