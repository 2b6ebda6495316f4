import type { OperationDefinition, StepContext, StepName } from '@slipway/platform-durable/operations';
import {
  HOLD_SECONDS,
  type AnalysisDto,
  type AnalysisMetricDto,
  type BakeDto,
  type StrategyDto,
  type StrategyType,
} from '@slipway/ports/deployment-records';
import type { Takeover } from '@slipway/ports/instances';
import type { Route, RouteHold } from '@slipway/ports/routing';
import { GUARDS, type Guard } from './gates/guards.js';

/*
 * The input with which an operation of this area is accepted: its strategy, its gate, and the names and input of its
 * steps.
 */

/** How one revision gives its capacity to another, if there is not enough for both. */
export interface ChangeoverInput {
  /** The revisions that stop first, with their shares of the traffic. */
  stops: { revisionId: string; revisionName: string; weight: number }[];
  /** The longest time that a request waits. */
  holdSeconds: number;
  /** Estimated from the last measured starts; null if none was measured. */
  estimatedSeconds: number | null;
}

/** The input of the steps of a rollout. Written once, when the rollout is accepted. */
export interface RolloutInput {
  deploymentId: string;
  deploymentName: string;
  revisionId: string;
  revisionName: string;
  isReused: boolean;
  strategy: Strategy;
  analysis: StoredGate | null;
  /** The plan that it executes. Absent in rollouts that an earlier version accepted. */
  planId?: string | null;
  progressDeadlineSeconds: number;
  keepPreviousSeconds: number;
  /** The route and the active revision from before the rollout. A failed rollout restores them. */
  foundRoute: Route | null;
  foundActiveRevisionId: string | null;
  /** Only for a recreate. */
  changeover?: ChangeoverInput;
  /** The spec is that of the active revision, which has all the traffic: there is nothing to do. */
  isUnchanged?: boolean;
}

export type RolloutContext = StepContext<RolloutInput>;

/** Reasons for the target of a rollback. The keys are the values of `result.because`, the values are the text. */
export const BECAUSE = {
  named: 'the requested revision',
  previous: 'the last good revision before the active one',
  active_when_rollout_began: 'the revision that was active when the rollout began',
  last_good_before:
    'the last good revision before the one that was active when the rollout began, because that one has no ready instance',
} as const;

/** The input of the steps of a rollback. */
export interface RollbackInput {
  deploymentId: string;
  deploymentName: string;
  /** The target revision. */
  revisionId: string;
  revisionName: string;
  /** The revision that loses its traffic, if there is one. */
  leftRevisionId: string | null;
  /** Absent in rollbacks that an earlier version accepted, like `foundRoute`. */
  because?: keyof typeof BECAUSE;
  /**
   * The route that a rollback restores if it ends before it has moved the traffic: the route from before the rollback.
   * If a rollout was moving traffic at that time, it is the route from before that rollout.
   */
  foundRoute?: Route | null;
  /** Only if there was no capacity for its target next to the running revisions. */
  changeover?: ChangeoverInput;
}

export type RollbackContext = StepContext<RollbackInput>;

/** Returns all revisions of a route except one: the revisions that can give their capacity to that one. */
export function stopsOf(route: Route | null | undefined, exceptRevisionId: string): ChangeoverInput['stops'] {
  return (route?.targets ?? [])
    .filter(({ revisionId }) => revisionId !== exceptRevisionId)
    .map((target) => ({ ...target }));
}

/** Returns which of them had traffic, and whether a change-over stops them first. */
export function takeOverFrom(stops: ChangeoverInput['stops'], changeover?: ChangeoverInput): Takeover {
  const revisionIds = stops.filter(({ weight }) => weight > 0).map(({ revisionId }) => revisionId);
  return { revisionIds, areStopped: changeover !== undefined };
}

/** The same as `takeOverFrom`, for the steps of an operation. */
export function takeOverOf(input: Pick<RollbackInput, 'revisionId' | 'foundRoute' | 'changeover'>): Takeover {
  return takeOverFrom(input.changeover?.stops ?? stopsOf(input.foundRoute, input.revisionId), input.changeover);
}

/** The change-over, as the result of an operation shows it from the start. */
export function changeoverResult({ holdSeconds, estimatedSeconds }: ChangeoverInput) {
  return { hold_seconds: holdSeconds, estimated_gap_seconds: estimatedSeconds };
}

/** For steps that only an operation with a change-over has. */
export function changeoverOf({ changeover }: { changeover?: ChangeoverInput }): ChangeoverInput {
  if (!changeover) throw new Error('the step requires a change-over, but the operation has none');
  return changeover;
}

export function changeoverHold({ holdSeconds, estimatedSeconds }: ChangeoverInput): RouteHold {
  return { maxSeconds: holdSeconds, estimatedSeconds };
}

/** The target of a rollback and the reason for it, as text. */
export function targetMessage({ revisionName, because }: Pick<RollbackInput, 'revisionName' | 'because'>): string {
  return because ? `${revisionName}, ${BECAUSE[because]}` : revisionName;
}

/** A strategy with all defaults, as an operation stores it. */
export interface Strategy {
  type: StrategyType;
  /** Steps that an earlier version accepted have no `pause`. */
  steps: { traffic_percent: number; soak_seconds: number; requires_approval: boolean; pause?: boolean }[];
  /** For a recreate: the longest time that a request waits. */
  hold_seconds?: number;
  bake?: BakeDto;
}

/** The judges of each soak, with their source, as `result.gate` of the operation shows it. */
export interface Gate extends Pick<AnalysisDto, 'on_failure' | 'on_inconclusive'> {
  source: 'rollout' | 'deployment' | 'default';
  metrics: AnalysisMetricDto[];
  guards: Guard[];
}

/** A rollout that an earlier version accepted has no guards. */
export type StoredGate = Omit<Gate, 'guards' | 'source'> & Partial<Pick<Gate, 'guards' | 'source'>>;

export const DEFAULT_SOAK_SECONDS = 180;
const CANARY_PERCENTS = [5, 25, 50, 100];

/** Returns the strategy of a rollout: that of the request, else that of the deployment, else `candidate`. */
export function chooseStrategy(
  requested: StrategyDto | undefined,
  ofDeployment: Record<string, unknown> | null,
): Strategy {
  const chosen = requested ?? (ofDeployment as unknown as StrategyDto | null) ?? { type: 'candidate' as const };
  const { type, steps = defaultSteps(type), hold_seconds, bake } = chosen;
  const holds = type === 'recreate' || type === 'auto';
  return { type, steps, ...(holds && { hold_seconds: hold_seconds ?? HOLD_SECONDS.default }), ...(bake && { bake }) };
}

function defaultSteps(type: StrategyType): Strategy['steps'] {
  const step = (traffic_percent: number, soak_seconds = DEFAULT_SOAK_SECONDS) => ({
    traffic_percent,
    soak_seconds,
    requires_approval: false,
    pause: false,
  });
  if (type === 'canary' || type === 'auto') return CANARY_PERCENTS.map((percent) => step(percent));
  if (type === 'blue_green' || type === 'recreate') return [step(100)];
  return [];
}

/**
 * Returns the gate of a rollout: that of the request (or its plan), else that of the deployment, else guards only.
 * Guards judge each outcome that a gate does not name. An error rate is the choice of the gate. Returns null if no step
 * is judged.
 */
export function chooseGate(
  steps: readonly string[],
  requested: AnalysisDto | undefined,
  ofDeployment: Record<string, unknown> | null,
): Gate | null {
  if (!steps.some((step) => step.startsWith('analyze:'))) return null;
  const chosen = requested ?? (ofDeployment as unknown as AnalysisDto | null);
  if (chosen?.mode === 'none') return null;
  if (!chosen)
    return { source: 'default', metrics: [], guards: [...GUARDS], on_failure: 'rollback', on_inconclusive: 'pause' };
  const { metrics = [], ...actions } = chosen;
  const guards = GUARDS.filter(({ name }) => name !== 'error_rate' && !metrics.some((metric) => metric.name === name));
  return { source: requested ? 'rollout' : 'deployment', metrics, guards, ...actions };
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
  'begin_bake',
  // Only of rollouts that an earlier version accepted: instances drain by themselves now.
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
 * The names of a rollout's steps, in order. A first revision skips canary steps and analysis, because there is no
 * baseline and no existing traffic to protect.
 */
export function rolloutSteps(strategy: Strategy, isFirst: boolean): RolloutStep[] {
  const build = ['validate', 'provision', 'await_ready'] as const;
  if (!movesTraffic(strategy)) return [...build];
  const end: RolloutStep[] = strategy.bake && !isFirst ? ['promote', 'begin_bake'] : ['promote'];
  if (strategy.type === 'recreate' && !isFirst) return [...RECREATE];
  if (strategy.type === 'immediate' || isFirst) return [...build, 'shift_traffic:1', ...end];
  if (strategy.type === 'blue_green') {
    const approval = waitsAfter(strategy.steps[0]) ? (['await_promotion:1'] as const) : [];
    return [...build, ...approval, 'shift_traffic:1', 'soak:1', 'analyze:1', ...end];
  }
  const canary = strategy.steps.flatMap((step, index): RolloutStep[] => {
    const n = index + 1;
    const approval = waitsAfter(step) ? [`await_promotion:${n}` as const] : [];
    return [`shift_traffic:${n}`, `soak:${n}`, `analyze:${n}`, ...approval];
  });
  return [...build, ...canary, ...end];
}

/** Whether a person has to continue the rollout after this step; before it in a blue-green rollout. */
function waitsAfter(step: Strategy['steps'][number] | undefined): boolean {
  return step !== undefined && (step.requires_approval || step.pause === true);
}

/** Whether a rollout with these steps stops the previous revision before it starts the next. */
export function isRecreate(steps: readonly string[]): boolean {
  return steps.includes('stop_previous');
}

/** The names of a rollback's steps. With a change-over, the running revisions stop before its target starts. */
export function rollbackSteps(hasChangeover: boolean) {
  if (!hasChangeover) return ['resolve_target', 'ensure_ready', 'shift_traffic', 'verify'] as const;
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

/** The share of the traffic, in percent, that step `shift_traffic:n` gives the candidate. */
export function percentAt(strategy: Strategy, n: number): number {
  return strategy.type === 'canary' ? (strategy.steps[n - 1]?.traffic_percent ?? 100) : 100;
}

export function soakSecondsAt(strategy: Strategy, n: number): number {
  return strategy.steps[n - 1]?.soak_seconds ?? 0;
}
