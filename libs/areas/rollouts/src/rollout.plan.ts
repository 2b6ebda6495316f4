import type { OperationDefinition, StepName } from '@slipway/platform-operations';
import type { StrategyDto, StrategyType } from '@slipway/ports/deployment-records';

/** A strategy with its defaults written out, as an operation keeps it. */
export interface Strategy {
  type: StrategyType;
  steps: { traffic_percent: number; soak_seconds: number; requires_approval: boolean }[];
}

const DEFAULT_SOAK_SECONDS = 180;
const CANARY_PERCENTS = [5, 25, 50, 100];

/** The strategy a rollout runs: the request's, else the deployment's, else `candidate`. */
export function chooseStrategy(
  requested: StrategyDto | undefined,
  ofDeployment: Record<string, unknown> | null,
): Strategy {
  const chosen = requested ?? (ofDeployment as unknown as StrategyDto | null) ?? { type: 'candidate' as const };
  return { type: chosen.type, steps: chosen.steps ?? defaultSteps(chosen.type) };
}

function defaultSteps(type: StrategyType): Strategy['steps'] {
  const step = (traffic_percent: number, soak_seconds = DEFAULT_SOAK_SECONDS) => ({
    traffic_percent,
    soak_seconds,
    requires_approval: false,
  });
  if (type === 'canary') return CANARY_PERCENTS.map((percent) => step(percent));
  if (type === 'blue_green') return [step(100)];
  return [];
}

export function movesTraffic(strategy: Strategy): boolean {
  return strategy.type !== 'candidate';
}

/** Every step that a rollout may have; `:n` counts the steps of its strategy from 1. */
export const ROLLOUT_STEPS = [
  'validate',
  'provision',
  'await_ready',
  'shift_traffic:n',
  'soak:n',
  'analyze:n',
  'await_promotion:n',
  'promote',
  'drain_previous',
] as const;

type RolloutStep = StepName<OperationDefinition<unknown, (typeof ROLLOUT_STEPS)[number]>>;

/**
 * The names of a rollout's steps, in order. A first revision has nothing to be compared with and nobody to protect: it
 * skips canary steps and analysis.
 */
export function rolloutSteps(strategy: Strategy, isFirst: boolean): RolloutStep[] {
  const build = ['validate', 'provision', 'await_ready'] as const;
  if (!movesTraffic(strategy)) return [...build];
  const end = ['promote', 'drain_previous'] as const;
  if (strategy.type === 'immediate' || isFirst) return [...build, 'shift_traffic:1', ...end];
  if (strategy.type === 'blue_green') {
    const approval = strategy.steps[0]?.requires_approval ? (['await_promotion:1'] as const) : [];
    return [...build, ...approval, 'shift_traffic:1', 'soak:1', 'analyze:1', ...end];
  }
  const canary = strategy.steps.flatMap((step, index): RolloutStep[] => {
    const n = index + 1;
    const approval = step.requires_approval ? [`await_promotion:${n}` as const] : [];
    return [`shift_traffic:${n}`, `soak:${n}`, `analyze:${n}`, ...approval];
  });
  return [...build, ...canary, ...end];
}

/** What share of the traffic step `shift_traffic:n` gives the candidate. */
export function percentAt(strategy: Strategy, n: number): number {
  return strategy.type === 'canary' ? (strategy.steps[n - 1]?.traffic_percent ?? 100) : 100;
}

export function soakSecondsAt(strategy: Strategy, n: number): number {
  return strategy.steps[n - 1]?.soak_seconds ?? 0;
}
