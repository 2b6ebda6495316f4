import { counted, measured, short } from '../../progress/text.js';
import { wordsOf } from '../../terminal.js';

/** How a plan will be rolled out, as the api shows it. An older api shows only the body of the rollout. */
export interface PlanWay {
  strategy?: { type?: string; steps?: readonly Step[] } | null;
  /** The gate that will apply; null if none does. */
  analysis?: { metrics?: readonly Check[]; guards?: readonly Check[]; source?: string; mode?: string } | null;
  target?: string | null;
  is_gated?: boolean;
}

interface Step {
  traffic_percent?: number;
  soak_seconds?: number;
  requires_approval?: boolean;
  pause?: boolean;
}

interface Check {
  name?: string;
  stat?: string;
  operator?: string;
  threshold?: number;
  max_regression_percent?: number;
  max_difference?: number;
  dry_run?: boolean;
}

export const wayOf = (plan: object): PlanWay | undefined => {
  const { execution, rollout } = plan as { execution?: PlanWay; rollout?: PlanWay };
  return execution ?? rollout;
};

/** `canary 10, 50, 100 %`, short enough for a list */
export function strategyText(way: PlanWay | undefined): string | undefined {
  const { type, steps = [] } = way?.strategy ?? {};
  if (type === undefined || steps.length === 0) return type;
  return `${type} ${steps.map(({ traffic_percent }) => traffic_percent).join(', ')} %`;
}

/** Whether all traffic moves at once and nothing judges it. */
export const isUnguarded = (way: PlanWay | undefined): boolean =>
  way?.is_gated === false && way.strategy?.type === 'immediate';

/** `10 % for 60 s, then an approval` */
export function stepTexts(way: PlanWay | undefined): string[] {
  return (way?.strategy?.steps ?? []).map(({ traffic_percent, soak_seconds, requires_approval, pause }) => {
    const soak = soak_seconds === undefined ? '' : ` for ${soak_seconds} s`;
    return `${traffic_percent} %${soak}${requires_approval ? ', then an approval' : ''}${pause ? ', then a pause' : ''}`;
  });
}

/** The checks of the gate; `none` if nothing judges the rollout. */
export function gateText(way: PlanWay | undefined): string | undefined {
  if (way === undefined || way.is_gated === undefined) return undefined;
  if (!way.is_gated) return 'none';
  const { metrics = [], guards = [] } = way.analysis ?? {};
  const checks = metrics.map(checkText);
  if (guards.length > 0) checks.push(counted(guards.length, 'guard'));
  return checks.join(', ') || 'guards';
}

function checkText({ name = '', stat, operator, threshold, max_regression_percent: worse, dry_run }: Check): string {
  const sign = operator === 'gte' ? '>=' : '<=';
  const limit =
    typeof threshold === 'number'
      ? `${sign} ${measured(name, threshold)}`
      : typeof worse === 'number'
        ? `+${short(worse)} %`
        : '';
  return [wordsOf(name), stat !== 'rate' && stat, limit, dry_run && '(report only)'].filter(Boolean).join(' ');
}

/** Strategy, gate and target, for an approver to read before the approval. */
export function wayLines(way: PlanWay | undefined): string[] {
  if (!way?.strategy) return [];
  const steps = stepTexts(way);
  return [
    `Strategy: ${way.strategy.type}${steps.length > 0 ? `: ${steps.join('; ')}` : ''}`,
    `Gate: ${gateText(way) ?? '-'}`,
    ...(way.target ? [`Target: ${way.target}`] : []),
  ];
}

export const UNGUARDED = 'This plan moves all traffic at once, and no gate judges the new revision.';
