import type { Operation } from '@slipway/sdk';
import { waitsForPerson } from '../../api/operation-state.js';
import { waitNoun } from '../../rollouts/waiting-text.js';
import { lengthText } from '../../ui/text/time-text.js';

/** Long enough for a worker that polls to have claimed it. */
const PICKED_UP_MS = 15_000;
const PROGRESS_MS = 60_000;
/** The next poll continues a wait that is over. */
const OVERDUE_MS = 30_000;

/** Why an operation that has not ended needs attention. */
export interface Concern {
  /** The larger, the more urgent. */
  rank: number;
  text: string;
}

type OperationFacts = Pick<
  Operation,
  'status' | 'attempt' | 'max_attempts' | 'current_step' | 'created_at' | 'updated_at' | 'waiting_for' | 'resume_at'
>;

export function concernOf(operation: OperationFacts, now: number): Concern | undefined {
  const { status, attempt, max_attempts, current_step } = operation;
  const age = now - Date.parse(operation.created_at);
  const still = now - Date.parse(operation.updated_at);
  if (status === 'pending' && attempt === 0 && age > PICKED_UP_MS)
    return { rank: 5, text: `no worker has picked it up for ${lengthText(age)}` };
  if ((status === 'running' || status === 'cancelling') && still > PROGRESS_MS)
    return { rank: 4, text: `no progress for ${lengthText(still)}` };
  if (attempt > 1) return { rank: 3, text: `${current_step}: attempt ${attempt} of ${max_attempts}` };
  if (status !== 'waiting') return undefined;
  if (waitsForPerson(operation))
    return { rank: 2, text: `has waited for ${waitNoun(operation.waiting_for ?? '')} for ${lengthText(still)}` };
  return overdueOf(operation, now, still);
}

function overdueOf(operation: OperationFacts, now: number, still: number): Concern | undefined {
  const { current_step, resume_at, waiting_for } = operation;
  const overdue = now - Date.parse(resume_at ?? '');
  if (overdue > OVERDUE_MS) return { rank: 4, text: `overdue by ${lengthText(overdue)}` };
  const isSoak = current_step.startsWith('soak') && waiting_for !== 'traffic';
  if (isSoak || still <= PROGRESS_MS) return undefined;
  const what = waiting_for ? ` for ${waitNoun(waiting_for)}` : '';
  return { rank: 1, text: `${current_step} has waited${what} for ${lengthText(still)}` };
}

/** Sorts by urgency, the worst first, and the oldest first among equals. */
export function stuckFirst<Row extends OperationFacts>(rows: readonly Row[], now: number): Row[] {
  const ranked = rows.map((row) => ({ row, rank: concernOf(row, now)?.rank ?? 0, since: Date.parse(row.created_at) }));
  return ranked.sort((one, other) => other.rank - one.rank || one.since - other.since).map(({ row }) => row);
}
