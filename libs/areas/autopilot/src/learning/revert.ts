import { isMetric } from '@slipway/contracts';
import { UNCALIBRATED } from '@slipway/diagnosis';
import type { PlanChangeDto, PlanToRevert } from '@slipway/ports/plans';
import type { PolicyContent } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import type { PlanDraft } from '../plans/plan-author.js';
import { rolloutOf } from '../rounds/draft.js';
import { errorGate, statedLevel } from '../rounds/goals.js';
import type { MetricPrediction } from '../rounds/situation.js';
import { listText, nameOf, valueText } from '../rounds/texts.js';
import { predictionsIn } from './predictions.js';

/** How far a value may be from the one before, if the plan states no interval of it. */
const SPREAD = Math.exp(UNCALIBRATED);

/**
 * Returns the changes that take back those of a plan. The value before a change is that of the plan's base, so the first
 * change of a path has it, and the last one is undone first.
 */
export function invertChanges(changes: readonly PlanChangeDto[]): PlanChangeDto[] {
  const first = new Map<string, PlanChangeDto>();
  for (const change of changes) if (!first.has(change.path)) first.set(change.path, change);
  const last = new Map(changes.map((change) => [change.path, change]));
  return [...first.values()].reverse().flatMap(({ path, from = null }) => {
    const value = last.get(path)?.value ?? null;
    if (from === null && value === null) return [];
    const op = from === null ? 'remove' : value === null ? 'add' : 'replace';
    return [{ op, path, value: from, rationale: 'Takes back a plan that made the service worse' }];
  });
}

/** Returns the plan that takes back another one. People decide about it, as about every plan. */
export function revertDraft(
  plan: PlanToRevert,
  active: Pick<Revision, 'name' | 'spec'>,
  policy: PolicyContent,
): PlanDraft {
  const changes = invertChanges(plan.changes);
  const worse = newestOf(plan);
  const summary = summaryOf(plan, worse, changes);
  return {
    kind: 'revert',
    summary,
    changes,
    rollout: rolloutOf(active, { changes, reason: summary }, policy, [errorGate(policy)]),
    evidence: worse.map(({ metric, stat, now, achieved, at }) => ({
      kind: 'telemetry',
      tool: 'slipway',
      metric,
      stat,
      baseline: { value: now, n: 0 },
      candidate: achieved && { value: achieved.value, n: achieved.n },
      collected_at: at.toISOString(),
    })),
    assumes: plan.assumes ?? null,
    predictedImpact: {
      metrics: impactOf(plan, worse, policy),
      cost: null,
      basis: `Values that were measured before plan ${plan.planId}`,
      gpu_hours: 0,
    },
    risk: { level: 'low', reasons: [] },
  };
}

type DatedOutcome = PlanToRevert['outcomes'][number];

/** Of each metric, the newest outcome that was measured. Those that are worse come first. */
function newestOf({ outcomes }: PlanToRevert): DatedOutcome[] {
  const newest = new Map<string, DatedOutcome>();
  for (const one of outcomes) if (one.achieved) newest.set(`${one.metric} ${one.stat}`, one);
  return [...newest.values()].sort((a, b) => Number(b.result === 'worse') - Number(a.result === 'worse'));
}

function summaryOf(
  { planId }: PlanToRevert,
  outcomes: readonly DatedOutcome[],
  changes: readonly PlanChangeDto[],
): string {
  const worse = outcomes.filter(({ result }) => result === 'worse');
  const what = worse.map(({ metric, stat, now, achieved }) => {
    const name = metric as MetricPrediction['metric'];
    const before = now === null ? '' : `, and was ${valueText(name, now)} before it`;
    return `${nameOf({ metric: name, stat: stat as MetricPrediction['stat'] })} is ${valueText(name, achieved?.value ?? 0)}${before}`;
  });
  const how = changes.map(({ op, path, value }) => {
    const name = path.slice(1).replaceAll('/', '.');
    return op === 'remove' ? `remove ${name}` : `set ${name} to ${JSON.stringify(value)}`;
  });
  const text = `Plan ${planId} made the service worse: ${listText(what)}. Take it back: ${how.join(' and ')}.`;
  return text.length <= MOST_CHARACTERS ? text : `Plan ${planId} made the service worse. Take its changes back.`;
}

/** Of a summary. */
const MOST_CHARACTERS = 2_000;

/** A revert promises the values that were measured before the plan. */
function impactOf(plan: PlanToRevert, outcomes: readonly DatedOutcome[], policy: PolicyContent): object[] {
  const stated = predictionsIn(plan.predictedImpact);
  return outcomes.flatMap(({ metric, stat, now, achieved }) => {
    if (now === null || !achieved || !(isMetric(metric) || metric === 'availability_percent')) return [];
    const before = stated.find((one) => one.metric === metric && one.stat === stat)?.before;
    const low = Math.min(now, before?.low ?? now / SPREAD);
    const high = before && Number.isFinite(before.high) ? Math.max(now, before.high) : now * SPREAD;
    return [
      {
        metric,
        stat,
        now: achieved.value,
        baseline: { low: achieved.low, high: achieved.high, n: achieved.n },
        predicted: { value: now, low, high },
        confidence: statedLevel(policy),
        calibrated_on: 0,
      },
    ];
  });
}
