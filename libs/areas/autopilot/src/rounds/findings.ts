import { systemActor } from '@slipway/contracts';
import { nameOf, type Diagnosis } from '@slipway/diagnosis';
import type { Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { deploymentStream, type Deployment } from '@slipway/ports/deployment-records';
import type { Policy } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import type { ReportedFindings } from './schedule.entity.js';
import type { AvailabilityResult, Finding, ReviewRecords } from './situation.js';
import { movedWorkload } from './workload.js';

export const AUTOPILOT_ACTOR = systemActor('autopilot');

/** A finding that an event reports. A proposal has an event of its own. */
export type ReportableFinding = Exclude<Finding, { kind: 'propose' }>;

const EVENT_TYPES = {
  insufficient: 'autopilot.evidence_insufficient',
  missed: 'autopilot.slo_missed',
  quiet: 'autopilot.quiet',
} as const;
const DAY_MS = 86_400_000;

/** Returns a key: two findings with the same key report the same. */
export function keyOf(base: Pick<Revision, 'id'>, finding: ReportableFinding): string {
  const goals = finding.kind === 'quiet' ? [] : finding.goals;
  const parts = goals.map(({ goal, because }) =>
    finding.kind === 'insufficient' ? `${nameOf(goal)} ${because ?? ''}` : `${nameOf(goal)} `,
  );
  return [base.id, finding.because, ...parts].join('|');
}

/**
 * Reports the same finding again after a day, and another one once the evidence could have changed: at most one event a
 * window. A finding that needs no action is reported once.
 */
export function isWorthReporting(
  before: ReportedFindings[string],
  key: string,
  now: Date,
  windowSeconds: number,
  isOnce = false,
): boolean {
  if (!before) return true;
  if (before.key === key && isOnce) return false;
  const age = now.getTime() - Date.parse(before.at);
  return age >= (before.key === key ? Math.max(DAY_MS, windowSeconds * 1_000) : windowSeconds * 1_000);
}

/** The subject of an event of the autopilot. */
export interface FindingContext {
  deployment: Deployment;
  base: Revision;
  policy: Policy;
  records: Pick<ReviewRecords, 'from' | 'to'> | undefined;
}

export async function appendFinding(
  tx: Tx,
  context: FindingContext,
  finding: ReportableFinding,
  availability: AvailabilityResult | undefined,
): Promise<void> {
  const { min_samples, min_duration_seconds, confidence } = context.policy.content.evidence;
  const goals = finding.kind === 'quiet' ? [] : finding.goals;
  const isUnavailable = finding.kind === 'missed' && availability?.verdict === 'missed';
  await append(tx, context, {
    type: EVENT_TYPES[finding.kind],
    data: {
      because: finding.because,
      message: finding.message,
      proposed: false,
      ...(finding.kind === 'quiet' ? { until: finding.until?.toISOString() ?? null } : {}),
      evidence: { min_samples, min_duration_seconds, confidence },
      window: windowOf(context),
      slos: [
        ...goals.map(({ goal, value, cause, because }) => ({
          ...goal,
          value: value?.value ?? null,
          samples: value?.n ?? 0,
          cause,
          ...(because ? { reason: because } : {}),
        })),
        ...(isUnavailable ? [availabilityRow(availability)] : []),
      ],
    },
  });
}

/** Causes that say nothing about the service yet: the last one that was known stays. */
const THIN = new Set<string>(['samples', 'duration', 'confidence']);

/** Returns the known cause of each goal, as `metric stat cause`, one after the other. */
export function causesKey(base: Pick<Revision, 'id'>, { goals }: Diagnosis, before = ''): string {
  const [revisionId, ...known] = before.split('|');
  const last = revisionId === base.id ? known : [];
  const causes = goals.flatMap(({ goal, cause, because }) => {
    const name = `${nameOf(goal)} `;
    if (cause !== 'unknown' || !THIN.has(because ?? '')) return [`${name}${cause}`];
    return last.filter((one) => one.startsWith(name) && !one.slice(name.length).includes(' '));
  });
  return [base.id, ...causes].join('|');
}

export async function appendDiagnosis(
  tx: Tx,
  context: FindingContext,
  diagnosis: Diagnosis,
  before: string | undefined,
): Promise<void> {
  const { goals, needed } = diagnosis;
  const known = new Set((before ?? '').split('|'));
  await append(tx, context, {
    type: 'autopilot.diagnosed',
    data: {
      window: windowOf(context),
      replicas_needed: needed,
      workload_moved: movedWorkload(diagnosis),
      slos: goals.map(({ goal, cause, because, value, message }) => ({
        ...goal,
        cause,
        changed: !known.has(`${nameOf(goal)} ${cause}`),
        ...(because ? { because } : {}),
        value: value?.value ?? null,
        samples: value?.n ?? 0,
        message,
      })),
    },
  });
}

async function append(
  tx: Tx,
  { deployment, base, policy }: FindingContext,
  { type, data }: Pick<NewEvent, 'type'> & { data: Record<string, unknown> },
): Promise<void> {
  await appendEvents(tx, deployment.tenantId, deploymentStream(deployment.id), [
    {
      type,
      subject: `deployments/${deployment.name}`,
      actor: AUTOPILOT_ACTOR,
      revisionId: base.id,
      data: { revision: base.name, policy_version: policy.version, ...data },
    },
  ]);
}

function windowOf({ records }: FindingContext): { from: string; to: string } | null {
  return records ? { from: records.from.toISOString(), to: records.to.toISOString() } : null;
}

function availabilityRow({ threshold, value, minutes }: AvailabilityResult): Record<string, unknown> {
  return {
    metric: 'availability_percent',
    stat: 'rate',
    threshold,
    value: value?.value ?? null,
    samples: minutes,
    cause: 'unknown',
  };
}
