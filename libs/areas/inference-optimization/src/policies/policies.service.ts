import { Inject, Injectable } from '@nestjs/common';
import { ordinalOf } from '@slipway/contracts';
import { Database, type Tx } from '@slipway/platform-database';
import {
  assertPreconditions,
  etagOf,
  jsonPatch,
  pageOf,
  rehearsal,
  reply,
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { appendEvents } from '@slipway/platform-durable/events';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import type { PolicyContent } from '@slipway/ports/policies';
import type { PolicyDto, SetPolicyDto } from './policy.dto.js';
import type { PolicyEntity } from './policy.entity.js';
import { policyErrors } from './policy.errors.js';
import { completePolicy, type PartialPolicy } from './policy-defaults.js';
import { policyDigest, PolicyStore } from './policy.store.js';

export interface PolicyRequest {
  principal: Principal;
  deploymentName: string;
  body: SetPolicyDto;
  conditions: Preconditions;
  isDryRun: boolean;
}

@Injectable()
export class PoliciesService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly store: PolicyStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  async get(who: Principal, deploymentName: string): Promise<Reply<PolicyDto>> {
    const answer = await this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const deployment = await this.deployments.get(tx, who.tenantId, deploymentName);
      const row = await this.store.current(tx, deployment.id);
      return row && answerOf(deployment.name, row);
    });
    if (!answer) throw policyErrors.policy_not_found();
    return reply(200, answer, { etag: answer.etag });
  }

  /** Empty if no policy was set. */
  versions(who: Principal, deploymentName: string, page: PageRequest): Promise<PageOf<PolicyDto>> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const { id, name } = await this.deployments.get(tx, who.tenantId, deploymentName);
      const { rows, hasMore } = await this.store.list(tx, id, page.limit, page.cursor?.[0] as number | undefined);
      return pageOf({ rows: rows.map((row) => answerOf(name, row)), hasMore }, ({ version }) => [version]);
    });
  }

  async version(who: Principal, deploymentName: string, given: string): Promise<Reply<PolicyDto>> {
    const answer = await this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const { id, name } = await this.deployments.get(tx, who.tenantId, deploymentName);
      const number = ordinalOf(given);
      const row = number === undefined ? undefined : await this.store.version(tx, id, number);
      if (!row) throw policyErrors.policy_version_not_found();
      return answerOf(name, row);
    });
    return reply(200, answer, { etag: answer.etag });
  }

  /**
   * Replaces the whole policy. A body equal to the current version changes nothing and creates no version: repeating a
   * PUT is free, and plans keep citing their version.
   */
  set(request: PolicyRequest): Promise<Reply> {
    const { principal, deploymentName, isDryRun } = request;
    return this.mutations.run({ principal, isDryRun }, async (tx) => {
      const deployment = await this.deployments.lock(tx, principal.tenantId, deploymentName);
      const current = await this.store.current(tx, deployment.id);
      const before = current && answerOf(deployment.name, current);
      const content = contentOf(request.body);
      assertPreconditions(request.conditions, before?.etag);
      const isUnchanged = current !== undefined && policyDigest(current.content) === policyDigest(content);
      const after = isUnchanged
        ? (before as PolicyDto)
        : answerOf(deployment.name, await this.write(tx, request, deployment, content, current));
      if (!isDryRun) return reply(200, after, { etag: after.etag });
      const would = isUnchanged ? 'change nothing' : `set version ${after.version} of the policy of ${deployment.name}`;
      return rehearsal(would, [], jsonPatch(before, after));
    });
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.deployments.idOf(tenantId, params['name'] as string);
  }

  private async write(
    tx: Tx,
    { principal }: PolicyRequest,
    deployment: Deployment,
    content: PolicyContent,
    before: PolicyEntity | undefined,
  ): Promise<PolicyEntity> {
    const { tenantId, actor } = principal;
    const version = (before?.version ?? 0) + 1;
    const row = await this.store.insert(tx, tenantId, { deploymentId: deployment.id, version, content }, actor);
    await appendAudit(tx, {
      action: 'policy.set',
      resourceType: 'deployment',
      resourceName: deployment.name,
      before: before?.content,
      after: content,
    });
    await appendEvents(tx, tenantId, deploymentStream(deployment.id), [
      {
        type: 'policy.updated',
        subject: `deployments/${deployment.name}`,
        actor,
        data: {
          deployment: deployment.name,
          version,
          mode: content.mode,
          digest: row.digest,
          changes: jsonPatch(before?.content ?? {}, content),
        },
      },
    ]);
    return row;
  }
}

/** Returns the body with every default written out, so that equal policies have equal digests. */
function contentOf(body: SetPolicyDto): PolicyContent {
  return completePolicy(JSON.parse(JSON.stringify(body)) as PartialPolicy);
}

function answerOf(deploymentName: string, row: PolicyEntity): PolicyDto {
  return {
    deployment: deploymentName,
    version: row.version,
    ...row.content,
    etag: etagOf(row.deploymentId, row.version),
    updated_by: row.updatedBy,
    updated_at: row.updatedAt,
  } as PolicyDto;
}
