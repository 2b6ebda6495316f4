export interface StepRecord {
  name: string;
  index: number;
  status: string;
  message: string;
  started_at: string | null;
  completed_at: string | null;
  evidence: Record<string, unknown> | null;
}

/** Of a step's evidence: a page does not show more. */
const MOST_EVIDENCE = 4_000;

/** A wait says in its message when it ends; the record has no field for it. */
export function endOf({ status, message }: Pick<StepRecord, 'status' | 'message'>): number | undefined {
  if (status !== 'waiting' && status !== 'running') return undefined;
  const at = Date.parse(/ until (\d{4}-\S+Z)\.?$/.exec(message)?.[1] ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Returns how long a step took, or has taken so far; undefined if it has not begun. */
export function lengthOf({ started_at: from, completed_at: to }: StepRecord, now: number): number | undefined {
  const ms = (to ? Date.parse(to) : now) - Date.parse(from ?? '');
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Returns how the received share of the traffic differs from the configured one: sessions stay at their revision.
 * Undefined if the step does not report a difference.
 */
export function shareText(evidence: StepRecord['evidence']): string | undefined {
  const share = evidence?.['share'] as Record<string, unknown> | null | undefined;
  const { configured_percent: configured, received_percent: received, sessions } = share ?? {};
  if (typeof configured !== 'number' || typeof received !== 'number') return undefined;
  const count = typeof sessions === 'number' ? `, ${sessions} ${sessions === 1 ? 'session' : 'sessions'}` : '';
  return `${percentText(configured)} requested, ${percentText(received)} received${count}`;
}

const percentText = (percent: number): string => `${Number(percent.toFixed(1))} %`;

/** Undefined if there is nothing to show. */
export function evidenceText(evidence: StepRecord['evidence']): string | undefined {
  if (!evidence || Object.keys(evidence).length === 0) return undefined;
  const text = JSON.stringify(evidence, null, 2);
  return text.length > MOST_EVIDENCE
    ? `${text.slice(0, MOST_EVIDENCE)}\n… and more. See the JSON of the operation.`
    : text;
}
