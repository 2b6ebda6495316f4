import type { Operation, OperationStep } from '@slipway/sdk';
import { clock } from './text.js';

const ENDED: readonly string[] = ['succeeded', 'skipped'];
/** A rollout that is being undone has no known end. */
const BACKWARD: readonly string[] = ['failed', 'cancelled', 'undone'];

/** Estimates the remaining time of the soaks, and names the assumptions. Returns undefined if no soak is left. */
export function timeLeft({ status, steps, result }: Operation, now: number): string | undefined {
  if (!['pending', 'running', 'waiting'].includes(status)) return undefined;
  if (steps.some((step) => BACKWARD.includes(step.status))) return undefined;
  const open = steps.filter((step) => !ENDED.includes(step.status));
  const soaks = open.filter(({ name }) => name.startsWith('soak:'));
  const left = soaks.map((step) => soakLeft(step, result['strategy_steps'], now));
  // A rollout that an older api accepted does not say how long its soaks are.
  if (left.length === 0 || left.includes(undefined)) return undefined;
  const isOpen = (name: string) => open.some((step) => step.name.split(':')[0] === name);
  const granted = [
    isOpen('await_ready') && 'once it is ready',
    result['gate'] != null && isOpen('analyze') && 'if every gate passes',
    isOpen('await_promotion') && 'not counting the time for approvals',
  ].filter(Boolean);
  const ms = left.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  return [`about ${clock(ms)} left`, ...granted].join(', ');
}

function soakLeft(step: OperationStep, strategySteps: unknown, now: number): number | undefined {
  const end = endOf(step);
  if (end !== undefined) return Math.max(0, end - now);
  const planned: unknown = Array.isArray(strategySteps)
    ? strategySteps[Number(step.name.split(':')[1]) - 1]
    : undefined;
  const { soak_seconds: seconds } = (planned ?? {}) as { soak_seconds?: unknown };
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** A soak says in its message when it ends, because the record has no field for it. */
export function endOf({ status, message }: OperationStep): number | undefined {
  if (status !== 'waiting' && status !== 'running') return undefined;
  const at = Date.parse(/ until (\d{4}-\S+Z)$/.exec(message)?.[1] ?? '');
  return Number.isNaN(at) ? undefined : at;
}
