import type { Operation, Slipway } from '@slipway/sdk';
import type { CommandInput } from './verb.js';

/** An operation of a rollout or a rollback, with what people ask about it. */
export type RolloutRow = Operation & {
  revision: string | null;
  strategy: string | null;
  /** The share of the traffic that the operation last gave its revision; null if it has moved none. */
  share_percent: number | null;
  /** `promoted`, `reverted`, …; the status if there is no outcome. */
  outcome: string;
  duration_seconds: number | null;
};

export function rolloutRow(operation: Operation): RolloutRow {
  const { result, created_at, completed_at, status, error_code } = operation;
  const outcome = textAt(result, 'outcome') ?? status;
  const ms = completed_at ? Date.parse(completed_at) - Date.parse(created_at) : NaN;
  return {
    ...operation,
    revision: textAt(result, 'revision'),
    strategy: textAt(result, 'strategy'),
    share_percent: shareOf(operation),
    outcome: error_code ? `${outcome} (${error_code})` : outcome,
    duration_seconds: Number.isNaN(ms) ? null : Math.round(ms / 1_000),
  };
}

/** The record has no share, but its steps say which shares of the strategy have been reached. */
function shareOf({ steps = [], result }: Operation): number | null {
  if (steps.some(({ status, name }) => status === 'undone' && /^(shift_traffic|release_requests)/.test(name))) return 0;
  const last = steps.filter(({ status, name }) => status === 'succeeded' && MOVES.test(name)).at(-1);
  if (!last) return null;
  // A first revision gets all traffic in one step, whatever its strategy is.
  const isStepped = result['strategy'] === 'canary' && steps.some(({ name }) => name.startsWith('soak:'));
  const [, number] = /^shift_traffic:(\d+)$/.exec(last.name) ?? [];
  if (!isStepped || number === undefined) return 100;
  const planned: unknown = result['strategy_steps'];
  const step: unknown = Array.isArray(planned) ? planned[Number(number) - 1] : undefined;
  const { traffic_percent: percent } = (step ?? {}) as { traffic_percent?: unknown };
  return typeof percent === 'number' ? percent : null;
}

const MOVES = /^(shift_traffic(:\d+)?|release_requests|promote)$/;

const textAt = (result: Record<string, unknown> | undefined, name: string): string | null => {
  const value = result?.[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/**
 * An empty list would hide a misspelled name. The rollouts of a deleted deployment are still listed.
 * @throws the not_found of the api
 */
async function assertExists(client: Slipway, deployment: string, { signal }: CommandInput['options']): Promise<void> {
  await client.deployments.get(deployment, { signal });
}

/** Running and recent rollouts, newest first. */
export async function* rolloutsOf(client: Slipway, { args: [deployment], options }: CommandInput) {
  const asked = {
    ...options,
    kind: 'rollout' as const,
    ...(deployment !== undefined && { resource_name: deployment }),
  };
  let isEmpty = true;
  for await (const operation of client.operations.list(asked)) {
    isEmpty = false;
    yield rolloutRow(operation);
  }
  if (isEmpty && deployment !== undefined) await assertExists(client, deployment, options);
}

/** Rollouts and rollbacks that have ended, newest first. */
export async function* historyOf(client: Slipway, { args: [deployment], options }: CommandInput) {
  const listed = (['rollout', 'rollback'] as const).map((kind) =>
    client.operations.list({ ...options, kind, resource_name: deployment })[Symbol.asyncIterator](),
  );
  const heads = await Promise.all(listed.map((one) => one.next()));
  if (heads.every(({ done }) => done)) await assertExists(client, deployment!, options);
  for (;;) {
    let newest: { index: number; operation: Operation } | undefined;
    for (const [index, head] of heads.entries())
      if (!head.done && (!newest || head.value.created_at > newest.operation.created_at))
        newest = { index, operation: head.value };
    if (!newest) return;
    if (newest.operation.completed_at !== null) yield rolloutRow(newest.operation);
    heads[newest.index] = await listed[newest.index]!.next();
  }
}
