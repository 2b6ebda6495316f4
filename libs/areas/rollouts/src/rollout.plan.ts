import type { OperationDefinition, StepName } from '@slipway/platform-durable/operations';
import { HOLD_SECONDS, type AnalysisDto, type StrategyDto, type StrategyType } from '@slipway/ports/deployment-records';
import type { CapacityForecast } from '@slipway/ports/instances';

/** A strategy with its defaults written out, as an operation keeps it. */
export interface Strategy {
  type: StrategyType;
  steps: { traffic_percent: number; soak_seconds: number; requires_approval: boolean }[];
  /** Of a recreate: the longest that a request waits. */
  hold_seconds?: number;
}

/** An analysis as `result.gate` of the operation shows it, with who says so. */
export interface Gate extends AnalysisDto {
  source: 'rollout' | 'deployment';
}

const DEFAULT_SOAK_SECONDS = 180;
const CANARY_PERCENTS = [5, 25, 50, 100];

/** The strategy a rollout runs: the request's, else the deployment's, else `candidate`. */
export function chooseStrategy(
  requested: StrategyDto | undefined,
  ofDeployment: Record<string, unknown> | null,
): Strategy {
  const chosen = requested ?? (ofDeployment as unknown as StrategyDto | null) ?? { type: 'candidate' as const };
  const { type, steps = defaultSteps(type), hold_seconds } = chosen;
  if (type !== 'recreate' && type !== 'auto') return { type, steps };
  return { type, steps, hold_seconds: hold_seconds ?? HOLD_SECONDS.default };
}

/** Whether the target can run the candidate beside what runs. Where nobody knows, it may. */
export function hasRoom({ free, needed }: Pick<CapacityForecast, 'free' | 'needed'>): boolean {
  return free === null || free >= needed;
}

/** Whether no waiting makes room: the deployment itself holds what is missing, or the target does not have it. */
export function isExhausted(room: Pick<CapacityForecast, 'free' | 'needed' | 'total' | 'own'>): boolean {
  return !hasRoom(room) && room.total !== null && room.needed > room.total - room.own;
}

/** Whether the room is there once the deployment's other revisions are stopped; else others' is waited for, before anything is stopped. */
export function hasRoomAfterStop({ free, own, needed }: Pick<CapacityForecast, 'free' | 'own' | 'needed'>): boolean {
  return free === null || free + own >= needed;
}

/** What `auto` comes to; any other strategy stays what it is. */
export function settled(
  strategy: Strategy,
  { hasPrevious, room }: { hasPrevious: boolean; room: CapacityForecast },
): Strategy {
  if (strategy.type !== 'auto') return strategy;
  const { steps, hold_seconds } = strategy;
  if (!hasPrevious || hasRoom(room) || room.own === 0) return { type: 'canary', steps };
  const soak_seconds = steps.at(-1)?.soak_seconds ?? DEFAULT_SOAK_SECONDS;
  return { type: 'recreate', steps: [{ traffic_percent: 100, soak_seconds, requires_approval: false }], hold_seconds };
}

function defaultSteps(type: StrategyType): Strategy['steps'] {
  const step = (traffic_percent: number, soak_seconds = DEFAULT_SOAK_SECONDS) => ({
    traffic_percent,
    soak_seconds,
    requires_approval: false,
  });
  if (type === 'canary' || type === 'auto') return CANARY_PERCENTS.map((percent) => step(percent));
  if (type === 'blue_green' || type === 'recreate') return [step(100)];
  return [];
}

/** The gate that a rollout runs: the request's (or its plan's), else the deployment's; null where it has no step to judge. */
export function chooseGate(
  steps: readonly string[],
  requested: AnalysisDto | undefined,
  ofDeployment: Record<string, unknown> | null,
): Gate | null {
  if (!steps.some((step) => step.startsWith('analyze:'))) return null;
  if (requested) return { source: 'rollout', ...requested };
  return ofDeployment && { source: 'deployment', ...(ofDeployment as unknown as AnalysisDto) };
}

export function movesTraffic(strategy: Strategy): boolean {
  return strategy.type !== 'candidate';
}

/** Every step that a rollout may have; `:n` counts the steps of its strategy from 1. */
export const ROLLOUT_STEPS = [
  'validate',
  'preflight',
  'hold_requests',
  'stop_previous',
  'provision',
  'await_ready',
  'release_requests',
  'shift_traffic:n',
  'soak:n',
  'analyze:n',
  'await_promotion:n',
  'promote',
  'drain_previous',
] as const;

type RolloutStep = StepName<OperationDefinition<unknown, (typeof ROLLOUT_STEPS)[number]>>;

const RECREATE: readonly RolloutStep[] = [
  'validate',
  'preflight',
  'hold_requests',
  'stop_previous',
  'provision',
  'await_ready',
  'release_requests',
  'soak:1',
  'analyze:1',
  'promote',
];

/**
 * The names of a rollout's steps, in order. A first revision has nothing to be compared with and nobody to protect: it
 * skips canary steps and analysis.
 */
export function rolloutSteps(strategy: Strategy, isFirst: boolean): RolloutStep[] {
  const build = ['validate', 'provision', 'await_ready'] as const;
  if (!movesTraffic(strategy)) return [...build];
  const end = ['promote', 'drain_previous'] as const;
  if (strategy.type === 'recreate' && !isFirst) return [...RECREATE];
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

/** Whether a rollout with these steps stops the previous revision before it starts the next. */
export function isRecreate(steps: readonly string[]): boolean {
  return steps.includes('stop_previous');
}

/** The names of a rollback's steps; without room, what runs is stopped before its target starts. */
export function rollbackSteps(withoutRoom: boolean) {
  if (!withoutRoom) return ['resolve_target', 'ensure_ready', 'shift_traffic', 'verify', 'drain_previous'] as const;
  return [
    'resolve_target',
    'preflight',
    'hold_requests',
    'stop_previous',
    'ensure_ready',
    'shift_traffic',
    'release_requests',
    'verify',
  ] as const;
}

/** What share of the traffic step `shift_traffic:n` gives the candidate. */
export function percentAt(strategy: Strategy, n: number): number {
  return strategy.type === 'canary' ? (strategy.steps[n - 1]?.traffic_percent ?? 100) : 100;
}

export function soakSecondsAt(strategy: Strategy, n: number): number {
  return strategy.steps[n - 1]?.soak_seconds ?? 0;
}
