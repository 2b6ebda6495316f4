import type { ItemOf, Operation } from '@slipway/sdk';

type FirstDeployment = Pick<ItemOf<'listDeployments'>, 'active_revision' | 'current_operation_id'> | null | undefined;

export type FirstRunStage = 'create' | 'roll_out' | 'rolling_out' | 'send';

const LIVE: readonly string[] = ['pending', 'running', 'waiting', 'cancelling'];

const isRolloutLive = (operation: Pick<Operation, 'status'> | undefined): boolean =>
  operation !== undefined && LIVE.includes(operation.status);

/**
 * Returns the stage from the existing resources, so that a returning person continues at the same stage. The deployment
 * may have been read before its operation ended, and still names it then.
 */
export function stageOf(deployment: FirstDeployment, operation: Pick<Operation, 'status'> | undefined): FirstRunStage {
  if (!deployment) return 'create';
  if (isRolloutLive(operation) || deployment.current_operation_id !== null) return 'rolling_out';
  return deployment.active_revision === null ? 'roll_out' : 'send';
}
