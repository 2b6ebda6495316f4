import { Injectable } from '@nestjs/common';
import { digestOf, type Tx } from '@slipway/platform-database';
import type { PoliciesPort, Policy, PolicyContent } from '@slipway/ports/inference-optimization';
import { CURRENT, INSERT, VERSION } from './policy.query.js';

export interface PolicyRow extends Policy {
  digest: string;
  updatedBy: { type: string; id: string };
  updatedAt: string;
}

/** The versions of policies, for this area's service and, through the port, for others. */
@Injectable()
export class PolicyStore implements PoliciesPort {
  current(tx: Tx, deploymentId: string): Promise<PolicyRow | undefined> {
    return tx.one<PolicyRow>(CURRENT, [deploymentId]);
  }

  version(tx: Tx, deploymentId: string, version: number): Promise<PolicyRow | undefined> {
    return tx.one<PolicyRow>(VERSION, [deploymentId, version]);
  }

  async insert(tx: Tx, tenantId: string, policy: Policy, updatedBy: { type: string; id: string }): Promise<PolicyRow> {
    const { deploymentId, version, content } = policy;
    const row = await tx.one<PolicyRow>(INSERT, [
      deploymentId,
      version,
      tenantId,
      JSON.stringify(content),
      policyDigest(content),
      JSON.stringify(updatedBy),
    ]);
    return row as PolicyRow;
  }
}

export function policyDigest(content: PolicyContent): string {
  return digestOf(content);
}
