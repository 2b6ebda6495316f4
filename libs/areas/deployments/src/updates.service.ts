import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { publishMediaUrls } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { appendEvents } from '@slipway/platform-durable/events';
import {
  assertPreconditions,
  errors,
  jsonPatch,
  rehearsal,
  reply,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { operationErrors } from '@slipway/platform-durable/operations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { DeploymentAnswers } from './deployment-answers.js';
import type { UpdateDeploymentDto } from './deployment-settings.dto.js';
import {
  loweredProtection,
  patchedSettings,
  plain,
  shownSettings,
  storedSettings,
  type ShownSettings,
} from './deployment-settings.js';
import { assertMayLower } from './protection.errors.js';

export interface UpdateRequest {
  principal: Principal;
  name: string;
  patch: UpdateDeploymentDto;
  conditions: Preconditions;
  isDryRun: boolean;
}

@Injectable()
export class UpdatesService {
  constructor(
    private readonly mutations: Mutations,
    private readonly answers: DeploymentAnswers,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  /**
   * Locks (404), merges and validates (422), checks the scope (403), compares the ETag (412) and writes (409), in this
   * order. A patch that changes nothing writes nothing.
   */
  update(request: UpdateRequest): Promise<Reply> {
    const { principal, name, isDryRun } = request;
    const { tenantId } = principal;
    return this.mutations.run({ principal, isDryRun }, async (tx) => {
      const deployment = await this.deployments.lock(tx, tenantId, name);
      const record = await this.deployments.record(tx, tenantId, name);
      const { name: givenName = name, ...patch } = plain(request.patch);
      if (givenName !== name) throw nameIsFixed(name);
      const before = shownSettings(record);
      const after = patchedSettings(before, patch);
      const lowered = loweredProtection(before.protection, after.protection);
      if (lowered)
        assertMayLower(principal, `Lowering protection.${lowered} requires the scope admin; raising it does not.`);
      const found = await this.answers.one(tx, record);
      assertPreconditions(request.conditions, found.etag);
      if (isDeepStrictEqual(before, after))
        return isDryRun ? rehearsal('change nothing') : reply(200, found, { etag: found.etag });
      assertStays(deployment);
      await this.write(tx, principal, deployment, before, after);
      const answer = await this.answers.one(tx, await this.deployments.record(tx, tenantId, name));
      if (isDryRun) return rehearsal(`update deployment ${name}`, [], jsonPatch(before, after));
      return reply(200, answer, { etag: answer.etag });
    });
  }

  private async write(
    tx: Tx,
    { tenantId, actor }: Principal,
    { id, name }: Deployment,
    before: ShownSettings,
    after: ShownSettings,
  ): Promise<void> {
    await this.deployments.configure(tx, id, storedSettings(after), actor);
    // The gateways check each request by their own copy, from the commit on.
    if (!isDeepStrictEqual(before.media_urls, after.media_urls)) await publishMediaUrls(tx, id, after.media_urls);
    // The audit stores only digests of the state before and after. So its action must show that a protection was
    // lowered.
    const isLowered = loweredProtection(before.protection, after.protection) !== undefined;
    await appendAudit(tx, {
      action: isLowered ? 'deployment.unprotect' : 'deployment.update',
      resourceType: 'deployment',
      resourceName: name,
      before,
      after,
    });
    await appendEvents(tx, tenantId, deploymentStream(id), [
      {
        type: 'deployment.updated',
        subject: `deployments/${name}`,
        actor,
        data: { deployment_id: id, name, changes: jsonPatch(before, after) },
      },
    ]);
  }
}

function nameIsFixed(name: string): Error {
  const message = `Deployment ${name} cannot be renamed, because clients send its name as model.`;
  return errors.validation_failed({
    message,
    details: [{ field: 'name', code: 'immutable', message }],
    remediation:
      'Omit name. To change the displayed name, set display_name. To get another name, create another deployment.',
  });
}

/** A deployment that is being deleted cannot keep a promise, least of all a protection. */
function assertStays({ name, state, currentOperationId }: Deployment): void {
  if (state !== 'deleting') return;
  throw operationErrors.operation_in_progress({
    message: `Deployment ${name} is being deleted.`,
    extra: { operation_id: currentOperationId },
  });
}
