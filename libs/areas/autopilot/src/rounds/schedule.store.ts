import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import type { Deployment } from '@slipway/ports/deployment-records';
import { ScheduleEntity, type ReportedFindings } from './schedule.entity.js';
import { DUE_SCHEDULES, TAKE_SCHEDULE, WATCH_DEPLOYMENT } from './schedule.query.js';

export type WatchedDeployment = Pick<ScheduleEntity, 'tenantId' | 'deploymentId' | 'deploymentName'>;

/** Which deployments the autopilot looks at, and when. */
@Injectable()
export class ScheduleStore {
  /** Looks at a deployment soon, and again from then on. */
  async watch(tx: Tx, deployment: WatchedDeployment): Promise<void> {
    await tx.query(WATCH_DEPLOYMENT, [deployment.deploymentId, deployment.tenantId, deployment.deploymentName]);
  }

  async unwatch(tx: Tx, { tenantId, deploymentId }: Omit<WatchedDeployment, 'deploymentName'>): Promise<void> {
    await tx.repository(ScheduleEntity).delete({ tenantId, deploymentId });
  }

  due(tx: Tx, limit: number): Promise<WatchedDeployment[]> {
    return tx.query<WatchedDeployment>(DUE_SCHEDULES, [limit]);
  }

  /** Takes a due look and sets the next one; undefined if another worker has taken it. */
  async take(tx: Tx, deploymentId: string, nextInSeconds: number): Promise<ReportedFindings | undefined> {
    return (await tx.one<{ told: ReportedFindings }>(TAKE_SCHEDULE, [deploymentId, nextInSeconds]))?.told;
  }

  /** @param told all of it: the caller has taken the row in this transaction, so nobody else changes it */
  async tell(tx: Tx, { tenantId, id }: Deployment, told: ReportedFindings): Promise<void> {
    await tx.repository(ScheduleEntity).update({ tenantId, deploymentId: id }, { told });
  }
}
