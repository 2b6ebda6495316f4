import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { ScheduleEntity, type ReportedFindings, type RoundDecision } from './schedule.entity.js';
import { DUE_SCHEDULES, TAKE_SCHEDULE, WATCH_DEPLOYMENT } from './schedule.query.js';

export type WatchedDeployment = Pick<ScheduleEntity, 'tenantId' | 'deploymentId' | 'deploymentName'>;

/** Stores which deployments the autopilot reviews, and when. */
@Injectable()
export class ScheduleStore {
  /** Schedules a review of a deployment soon, and further ones after it. */
  async watch(tx: Tx, deployment: WatchedDeployment): Promise<void> {
    await tx.query(WATCH_DEPLOYMENT, [deployment.deploymentId, deployment.tenantId, deployment.deploymentName]);
  }

  async unwatch(tx: Tx, { tenantId, deploymentId }: Omit<WatchedDeployment, 'deploymentName'>): Promise<void> {
    await tx.repository(ScheduleEntity).delete({ tenantId, deploymentId });
  }

  due(tx: Tx, limit: number): Promise<WatchedDeployment[]> {
    return tx.query<WatchedDeployment>(DUE_SCHEDULES, [limit]);
  }

  /** Takes a due review and schedules the next one. Returns undefined if another worker has taken it. */
  async take(tx: Tx, deploymentId: string, nextInSeconds: number): Promise<ReportedFindings | undefined> {
    return (await tx.one<{ told: ReportedFindings }>(TAKE_SCHEDULE, [deploymentId, nextInSeconds]))?.told;
  }

  /**
   * Stores what a round did. The caller has taken the row in this transaction, so no other transaction changes it.
   * @param told the complete value; undefined if the round reported nothing
   */
  async decided(tx: Tx, deploymentId: string, decision: RoundDecision, told?: ReportedFindings): Promise<void> {
    await tx.repository(ScheduleEntity).update({ deploymentId }, { decision, ...(told && { told }) });
  }

  /** Returns the last decision about a deployment; null before the first round, or if nothing watches it. */
  async lastDecision(tx: Tx, tenantId: string, deploymentId: string): Promise<RoundDecision | null> {
    return (await tx.repository(ScheduleEntity).findOneBy({ tenantId, deploymentId }))?.decision ?? null;
  }
}
