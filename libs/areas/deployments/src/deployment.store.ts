import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import type { Deployment, DeploymentChange, DeploymentsPort, DeploymentState } from '@slipway/ports';
import { conditionsOf, type Condition } from './conditions.js';
import { deploymentErrors } from './deployment.errors.js';
import { GET, LOCK, LOCK_BY_ID, UPDATE } from './deployment.query.js';

/** Deployments as other areas use them. */
@Injectable()
export class DeploymentStore implements DeploymentsPort {
  async get(tx: Tx, tenantId: string, name: string): Promise<Deployment> {
    const row = await tx.one<Deployment>(GET, [tenantId, name]);
    if (!row) throw deploymentErrors.deployment_not_found();
    return row;
  }

  async lock(tx: Tx, tenantId: string, name: string): Promise<Deployment> {
    const row = await tx.one<Deployment>(LOCK, [tenantId, name]);
    if (!row) throw deploymentErrors.deployment_not_found();
    return row;
  }

  async lockById(tx: Tx, id: string): Promise<Deployment | undefined> {
    const row = await this.lockWithConditions(tx, id);
    if (!row) return undefined;
    const { conditions: _, ...deployment } = row;
    return deployment;
  }

  async update(tx: Tx, id: string, change: DeploymentChange): Promise<void> {
    const row = await this.lockWithConditions(tx, id);
    if (!row) throw deploymentErrors.deployment_not_found();
    const next = nextDeployment(row, change);
    const conditions = conditionsOf(row.conditions, next, new Date());
    await tx.query(UPDATE, [
      id,
      next.state,
      next.activeRevisionId,
      next.candidateRevisionId,
      next.previousRevisionId,
      next.currentOperationId,
      JSON.stringify(conditions),
    ]);
  }

  private lockWithConditions(tx: Tx, id: string): Promise<(Deployment & { conditions: Condition[] }) | undefined> {
    return tx.one<Deployment & { conditions: Condition[] }>(LOCK_BY_ID, [id]);
  }
}

/** A deployment after a change, with what follows from it: an activated candidate is no candidate, an active revision ends `creating`. */
export function nextDeployment(row: Deployment, change: DeploymentChange): Deployment {
  const next = { ...row, ...definedOf(change) };
  const hasActivated = typeof change.activeRevisionId === 'string';
  if (hasActivated && change.candidateRevisionId === undefined && next.candidateRevisionId === change.activeRevisionId)
    next.candidateRevisionId = null;
  const isUnborn = row.state === 'creating' || row.state === 'failed';
  const state: DeploymentState = hasActivated && isUnborn && change.state === undefined ? 'active' : next.state;
  return { ...next, state };
}

function definedOf(change: DeploymentChange): DeploymentChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
