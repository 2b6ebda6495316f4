import type { Plan } from '../api/items.js';
import { objectOf, objectsOf, type JsonObject } from '../ui/text/json-shape.js';
import { lengthText } from '../ui/text/time-text.js';

/** How a plan will be rolled out, in words. */
export interface PlanRollout {
  strategy: string;
  /** One text for each step: `10 % for 1 min, then approval`. */
  steps: string[];
  /** The shares of the steps: `10, 50, 100 %`; empty if no traffic moves in steps. */
  shares: string;
  /** One text for each check. */
  gate: string[];
  target: string | null;
  /** A danger that the approver must see. */
  warning: string | null;
}

/**
 * Reads it from `execution`. Older plans only have the body of their request, in which nothing is certain and the
 * defaults are missing.
 */
export function planRollout({ rollout, execution }: Pick<Plan, 'rollout'> & { execution?: object }): PlanRollout {
  const { strategy: given, analysis, target, is_gated } = objectOf(execution ?? rollout);
  const strategy = objectOf(given);
  const steps = objectsOf(strategy['steps']);
  const type = typeof strategy['type'] === 'string' ? strategy['type'] : 'the default of the deployment';
  const isGated = typeof is_gated === 'boolean' ? is_gated : type !== 'immediate' && !isNone(analysis);
  return {
    strategy: type.replaceAll('_', ' '),
    steps: steps.map(stepText),
    shares: steps.length > 0 ? `${steps.map((step) => String(step['traffic_percent'])).join(', ')} %` : '',
    gate: isGated ? gateTexts(objectOf(analysis)) : [],
    target: typeof target === 'string' ? target : null,
    warning: warningOf(type, isGated),
  };
}

const isNone = (analysis: unknown): boolean => analysis === 'none' || objectOf(analysis)['mode'] === 'none';

function warningOf(type: string, isGated: boolean): string | null {
  if (isGated || type === 'candidate') return null;
  if (type === 'immediate') return 'All traffic moves at once, and no gate judges the new revision.';
  return 'No gate judges the new revision.';
}

function stepText({ traffic_percent, soak_seconds, requires_approval, pause }: JsonObject): string {
  const soak = typeof soak_seconds === 'number' ? ` for ${lengthText(soak_seconds * 1000)}` : '';
  const approval = requires_approval === true ? ', then approval' : '';
  const stop = pause === true ? ', then a pause' : '';
  return `${String(traffic_percent)} %${soak}${approval}${stop}`;
}

function gateTexts({ metrics, guards }: JsonObject): string[] {
  const checks = objectsOf(metrics).map(checkText);
  const guarded = objectsOf(guards).map(({ name }) => String(name));
  if (guarded.length > 0) return [...checks, `guards: ${guarded.join(', ')}`];
  return checks.length > 0 ? checks : ['guards: errors, refusals, overload and abandoned requests'];
}

function checkText({ name, stat, check, threshold, operator, max_regression_percent, dry_run }: JsonObject): string {
  const what = [name, stat].filter(Boolean).map(String).join(' ');
  const limit =
    check === 'regression'
      ? `at most ${String(max_regression_percent ?? 'the default')} % worse`
      : `${operator === 'gte' ? 'at least' : 'at most'} ${String(threshold)}`;
  return `${what} ${limit}${dry_run === true ? ' (only reported)' : ''}`;
}

/** An actor as plans name it; older ones have no name and no owner. */
interface PlanActor {
  type: string;
  id: string;
  name?: string | null;
  owner?: { type: string; id: string } | null;
}

/** Names the creator or an approver of a plan: by name, and for a token by its owner too. */
export function planActorText({ type, id, name, owner }: PlanActor): string {
  if (!name) return owner?.id ?? `${type} ${id}`;
  return owner && type !== 'user' && owner.id !== name ? `${name} (${owner.type} ${owner.id})` : name;
}
