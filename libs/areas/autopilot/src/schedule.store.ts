import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { DUE, TAKE, TELL, UNWATCH, WATCH } from './schedule.query.js';

export interface Watched {
  tenantId: string;
  deploymentId: string;
  deploymentName: string;
}

/** The newest event of each kind that the autopilot appended about a deployment. */
export type Told = Record<string, { key: string; at: string } | undefined>;

/** Which deployments the autopilot looks at, and when. */
@Injectable()
export class ScheduleStore {
  /** Looks at a deployment soon, and again from then on. */
  async watch(tx: Tx, deployment: Watched): Promise<void> {
    await tx.query(WATCH, [deployment.deploymentId, deployment.tenantId, deployment.deploymentName]);
  }

  async unwatch(tx: Tx, deploymentId: string): Promise<void> {
    await tx.query(UNWATCH, [deploymentId]);
  }

  due(tx: Tx, limit: number): Promise<Watched[]> {
    return tx.query<Watched>(DUE, [limit]);
  }

  /** Takes a due look and sets the next one; undefined if another worker has taken it. */
  async take(tx: Tx, deploymentId: string, nextInSeconds: number): Promise<Told | undefined> {
    return (await tx.one<{ told: Told }>(TAKE, [deploymentId, nextInSeconds]))?.told;
  }

  async tell(tx: Tx, deploymentId: string, told: Told): Promise<void> {
    await tx.query(TELL, [deploymentId, JSON.stringify(told)]);
  }
}
