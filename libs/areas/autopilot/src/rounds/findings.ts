import { systemActor } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import { appendEvents } from '@slipway/platform-durable/events';
import { deploymentStream, type Deployment } from '@slipway/ports/deployment-records';
import type { Policy } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { nameOf } from './proposal.js';
import type { AutopilotFinding } from './evaluation.js';
import type { ReportedFindings } from './schedule.entity.js';
import type { Telemetry } from './slo-evidence.js';

export const AUTOPILOT_ACTOR = systemActor('autopilot');

/** A finding that an event reports. A proposal has an event of its own. */
export type ReportableFinding = Extract<AutopilotFinding, { kind: 'insufficient' | 'missed' }>;

const EVENT_TYPES = { insufficient: 'autopilot.evidence_insufficient', missed: 'autopilot.slo_missed' } as const;
const DAY_MS = 86_400_000;

/** Returns a key: two findings with the same key report the same. */
export function keyOf(base: Revision, finding: ReportableFinding): string {
  return [base.id, finding.because, ...finding.results.map(({ slo, reason }) => `${nameOf(slo)} ${reason ?? ''}`)].join(
    '|',
  );
}

/**
 * Reports the same finding again after a day, and another one once the evidence could have changed: at most one event a
 * window.
 */
export function isWorthReporting(
  before: ReportedFindings[string],
  key: string,
  now: Date,
  windowSeconds: number,
): boolean {
  if (!before) return true;
  const age = now.getTime() - Date.parse(before.at);
  return age >= (before.key === key ? Math.max(DAY_MS, windowSeconds * 1_000) : windowSeconds * 1_000);
}

export async function appendFinding(
  tx: Tx,
  {
    deployment,
    base,
    policy,
    telemetry,
  }: { deployment: Deployment; base: Revision; policy: Policy; telemetry: Telemetry | undefined },
  finding: ReportableFinding,
): Promise<void> {
  const { min_samples, min_duration_seconds, confidence } = policy.content.evidence;
  await appendEvents(tx, deployment.tenantId, deploymentStream(deployment.id), [
    {
      type: EVENT_TYPES[finding.kind],
      subject: `deployments/${deployment.name}`,
      actor: AUTOPILOT_ACTOR,
      revisionId: base.id,
      data: {
        revision: base.name,
        policy_version: policy.version,
        because: finding.because,
        proposed: false,
        evidence: { min_samples, min_duration_seconds, confidence },
        window: telemetry ? { from: telemetry.from.toISOString(), to: telemetry.to.toISOString() } : null,
        slos: finding.results.map(({ slo, value, n, reason }) => ({
          ...slo,
          value,
          samples: n,
          ...(reason ? { reason } : {}),
        })),
      },
    },
  ]);
}
