import type { FieldIssue } from '@slipway/platform-http';
import type { SloMetric, SloStat } from '@slipway/ports';

/** What the gateways record, and therefore what an SLO can be about. */
export const METRICS = [
  'error_rate',
  'ttft_ms',
  'itl_ms',
  'e2e_latency_ms',
  'output_tokens_per_s',
] as const satisfies readonly SloMetric[];
export const STATS = ['avg', 'p50', 'p90', 'p95', 'p99', 'rate'] as const satisfies readonly SloStat[];

/** The members of a revision's spec, where the path of a knob begins. */
const SPEC_MEMBERS = ['model', 'runtime', 'endpoint', 'resources', 'scaling', 'probes'];

interface SloFields {
  metric: SloMetric;
  stat?: SloStat;
  threshold: number;
}

export function statOf({ metric, stat }: Pick<SloFields, 'metric' | 'stat'>): SloStat {
  return stat ?? (metric === 'error_rate' ? 'rate' : 'p95');
}

export function sloIssues(slo: SloFields): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const isRate = slo.metric === 'error_rate';
  if ((statOf(slo) === 'rate') !== isRate) {
    issues.push({
      field: 'stat',
      code: 'not_applicable',
      message: isRate ? 'error_rate is a rate' : `${slo.metric} has no rate`,
    });
  }
  if (isRate && slo.threshold > 1)
    issues.push({ field: 'threshold', code: 'max', message: 'error_rate is a share of 0 to 1' });
  return issues;
}

/** Two limits on one number would leave open which one counts. */
export function duplicateSlos(slos: readonly SloFields[]): FieldIssue[] {
  const names = slos.map((slo) => `${slo.metric} ${statOf(slo)}`);
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ field: `slos[${index}]`, code: 'unique', message: `there is another SLO on ${name}` }],
  );
}

/** A knob with a path must begin in the spec of a revision; a bare name is an argument of the engine or a member of the spec. */
export function knobIssues(knobs: readonly string[]): FieldIssue[] {
  return knobs.flatMap((knob, index) => {
    const parts = knob.replace(/^\//, '').split(/[./]/);
    if (parts.length === 1 || SPEC_MEMBERS.includes(parts[0] as string)) return [];
    const message = `a path begins with one of ${SPEC_MEMBERS.join(', ')}`;
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
        'max_age_seconds must not be below min_duration_seconds: such evidence would be too old when it is complete',
    },
  ];
}
