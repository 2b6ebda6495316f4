import type { ItemOf, Operation } from '@slipway/sdk';

type Seen = Pick<ItemOf<'listDeployments'>, 'active_revision' | 'current_operation_id'> | null | undefined;

export type Stage = 'create' | 'roll_out' | 'rolling_out' | 'send';

const LIVE: readonly string[] = ['pending', 'running', 'waiting', 'cancelling'];

export const isLive = (operation: Pick<Operation, 'status'> | undefined): boolean =>
  operation !== undefined && LIVE.includes(operation.status);

/** How far somebody has come, by what is there: whoever comes back goes on where they left. */
export function stageOf(deployment: Seen, operation: Pick<Operation, 'status'> | undefined): Stage {
  if (!deployment) return 'create';
  if (isLive(operation) || deployment.current_operation_id !== null) return 'rolling_out';
  return deployment.active_revision === null ? 'roll_out' : 'send';
}
