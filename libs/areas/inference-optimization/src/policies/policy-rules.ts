import type { FieldIssue } from '@slipway/platform-http';
import { isMetric, metricOf, SPEC_MEMBERS, type Metric, type Stat } from '@slipway/contracts';
import type { ObjectiveMetric, PolicyContent } from '@slipway/ports/policies';

interface SloFields {
  metric: Metric;
  stat?: Stat;
  threshold: number;
}

export function statOf({ metric, stat }: Pick<SloFields, 'metric' | 'stat'>): Stat {
  return stat ?? metricOf(metric).defaultStat;
}

export function sloIssues(slo: SloFields): FieldIssue[] {
  const { kind, stats } = metricOf(slo.metric);
  const isRate = kind === 'rate';
  const issues: FieldIssue[] = [];
  if (!stats.includes(statOf(slo)))
    issues.push({
      field: 'stat',
      code: 'not_applicable',
      message: `${slo.metric} supports only the stats ${stats.join(', ')}`,
    });
  if (isRate && slo.threshold > 1)
    issues.push({ field: 'threshold', code: 'max', message: `${slo.metric} is a share between 0 and 1` });
  return issues;
}

/** With two limits on one number, it would be unclear which one counts. */
export function duplicateSlos(slos: readonly SloFields[]): FieldIssue[] {
  const names = slos.map((slo) => `${slo.metric} ${statOf(slo)}`);
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ field: `slos[${index}]`, code: 'unique', message: `another SLO already uses ${name}` }],
  );
}

/** Device hours and cost are better when lower. */
function directionOf(metric: ObjectiveMetric): 'minimize' | 'maximize' {
  return isMetric(metric) && metricOf(metric).better === 'higher' ? 'maximize' : 'minimize';
}

/** Only the better direction is an objective: a policy that makes a deployment worse is a mistake of its author. */
export function objectiveIssues({ metric, direction }: NonNullable<PolicyContent['objective']>): FieldIssue[] {
  const fitting = directionOf(metric);
  if (direction === fitting) return [];
  const message = `${metric} is better when ${fitting === 'minimize' ? 'lower' : 'higher'}; use ${fitting}`;
  return [{ field: 'direction', code: 'not_applicable', message }];
}

/** A knob with a path must begin in the spec of a revision; a bare name is an argument of the engine or a member of the spec. */
export function knobIssues(knobs: readonly string[]): FieldIssue[] {
  return knobs.flatMap((knob, index) => {
    const parts = knob.replace(/^\//, '').split(/[./]/);
    if (parts.length === 1 || (SPEC_MEMBERS as readonly string[]).includes(parts[0] as string)) return [];
    const message = `a path must begin with one of ${SPEC_MEMBERS.join(', ')}`;
    return [{ field: `allowed_knobs[${index}]`, code: 'unknown', message }];
  });
}

export function percentileIssues({ p50, p95 }: { p50?: number; p95?: number }): FieldIssue[] {
  if (p50 === undefined || p95 === undefined || p95 >= p50) return [];
  return [{ field: 'p95', code: 'min', message: 'p95 must not be below p50' }];
}

export function windowIssues({ start, end }: { start: string; end: string }): FieldIssue[] {
  if (Date.parse(end) > Date.parse(start)) return [];
  return [{ field: 'end', code: 'order', message: 'end must be after start' }];
}

export function evidenceIssues(evidence: { min_duration_seconds: number; max_age_seconds: number }): FieldIssue[] {
  if (evidence.max_age_seconds >= evidence.min_duration_seconds) return [];
  return [
    {
      field: 'max_age_seconds',
      code: 'min',
      message:
        'max_age_seconds must not be below min_duration_seconds: evidence would be too old before it is complete',
    },
  ];
}
