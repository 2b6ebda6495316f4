import type { Tx } from '@slipway/platform-database';

export const AUTOPILOT = Symbol('AutopilotPort');

/** Offered by the Autopilot area. */
export interface AutopilotPort {
  /** Looks at the deployment soon, and again from then on; or never again. In the transaction of the policy that says so. */
  watch(
    tx: Tx,
    deployment: { tenantId: string; deploymentId: string; deploymentName: string },
    isWatched: boolean,
  ): Promise<void>;
}
