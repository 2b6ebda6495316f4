import type { Actor } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { digestOf, findPage, type RowPage, type Tx } from '@slipway/platform-database';
import type { PoliciesPort, Policy, PolicyContent } from '@slipway/ports/policies';
import { completePolicy } from './policy-defaults.js';
import { LessThan, LessThanOrEqual } from 'typeorm';
import { PolicyEntity } from './policy.entity.js';
import { policyErrors } from './policy.errors.js';

/** Of a deployment. Plans cite the version that was current when they were made. */
const KEPT_VERSIONS = 100;

/** The versions of policies, for this area's service and, through the port, for others. */
@Injectable()
export class PolicyStore implements PoliciesPort {
  async current(tx: Tx, deploymentId: string): Promise<PolicyEntity | undefined> {
    const policies = tx.repository(PolicyEntity);
    return completed(await policies.findOne({ where: { deploymentId }, order: { version: 'DESC' } }));
  }

  async get(tx: Tx, deploymentId: string): Promise<PolicyEntity> {
    const policy = await this.current(tx, deploymentId);
    if (!policy) throw policyErrors.policy_not_found();
    return policy;
  }

  async version(tx: Tx, deploymentId: string, version: number): Promise<PolicyEntity | undefined> {
    return completed(await tx.repository(PolicyEntity).findOneBy({ deploymentId, version }));
  }

  /** Returns the kept versions of a policy, newest first, before the given one. */
  async list(tx: Tx, deploymentId: string, limit: number, before?: number): Promise<RowPage<PolicyEntity>> {
    const where = { deploymentId, ...(before !== undefined && { version: LessThan(before) }) };
    const order = { version: 'DESC' } as const;
    const { rows, hasMore } = await findPage(tx, PolicyEntity, { where, order, key: 'version', limit });
    return { rows: rows.map((row) => completed(row) as PolicyEntity), hasMore };
  }

  /** The caller holds the deployment's lock, so no other request can take the next version. */
  async insert(tx: Tx, tenantId: string, policy: Policy, updatedBy: Actor): Promise<PolicyEntity> {
    const { deploymentId, version, content } = policy;
    const policies = tx.repository(PolicyEntity);
    const digest = policyDigest(content);
    // `as object`, because TypeORM's type of a partial row takes no `unknown` within JSON.
    await policies.insert({ deploymentId, version, tenantId, content: content as object, digest, updatedBy });
    await policies.delete({ tenantId, deploymentId, version: LessThanOrEqual(version - KEPT_VERSIONS) });
    return policies.findOneByOrFail({ tenantId, deploymentId, version });
  }

  async removeOf(tx: Tx, deploymentId: string): Promise<void> {
    await tx.repository(PolicyEntity).delete({ deploymentId });
  }
}

/**
 * In a version older than a field, the field has its default. Rows never change, so the default is filled in on read;
 * the stored digest stays that of the stored content.
 */
function completed(row: PolicyEntity | null): PolicyEntity | undefined {
  return row ? Object.assign(row, { content: completePolicy(row.content) }) : undefined;
}

export function policyDigest(content: PolicyContent): string {
  return digestOf(content);
}
