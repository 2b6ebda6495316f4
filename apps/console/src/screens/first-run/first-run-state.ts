import type { ItemOf, Operation } from '@slipway/sdk';

type FirstDeployment = Pick<ItemOf<'listDeployments'>, 'active_revision' | 'current_operation_id'> | null | undefined;

export type FirstRunStage = 'create' | 'roll_out' | 'rolling_out' | 'send';

const LIVE: readonly string[] = ['pending', 'running', 'waiting', 'cancelling'];

export const isRolloutLive = (operation: Pick<Operation, 'status'> | undefined): boolean =>
  operation !== undefined && LIVE.includes(operation.status);

/** How far somebody has come, by what is there: whoever comes back goes on where they left. */
export function stageOf(deployment: FirstDeployment, operation: Pick<Operation, 'status'> | undefined): FirstRunStage {
  if (!deployment) return 'create';
  if (isRolloutLive(operation) || deployment.current_operation_id !== null) return 'rolling_out';
  return deployment.active_revision === null ? 'roll_out' : 'send';
}
