import { baseName, type OperationRow } from '@slipway/platform-durable/operations';
import type { WorkloadStatus } from '@slipway/ports/instances';
import type { RolloutContext, RolloutInput } from '../rollout.input.js';

/* How a step of a rollout is passed without its own reason: by a person, or because the stable revision is down. */

/** The result of a `soak` step. */
export interface SoakResult {
  /** The beginning of the soak, RFC 3339. */
  from?: string;
  /** A person has decided about a breach that stopped the soak. */
  is_judged?: boolean;
  /** The stable revision had no ready instance, so the candidate takes over. */
  takeover?: boolean;
}

export const TAKEN_OVER = 'The stable revision has no ready instance, so the candidate has taken over.';

/**
 * Whether a person has passed the step that runs. `next` passes the soak and the gate of one step of the strategy, and a
 * pause after it, but no approval.
 */
export function isPassed({ operation, step, input }: RolloutContext): boolean {
  const { promotion } = operation;
  if (!promotion) return false;
  if (promotion.to === 'full' || promotion.step === step.name) return true;
  const isSameStep =
    promotion.step.split(':')[1] === String(step.number) && baseName(promotion.step) !== 'await_promotion';
  if (baseName(step.name) !== 'await_promotion') return isSameStep;
  return isSameStep && !requiresApproval(input, step.number);
}

/** Whether a person has passed all steps. */
export function isFullyPassed({ promotion }: OperationRow<RolloutInput>): boolean {
  return promotion?.to === 'full';
}

export function requiresApproval({ strategy }: RolloutInput, number: number): boolean {
  return strategy.steps[number - 1]?.requires_approval ?? false;
}

/** The person who passed a step, as its evidence. */
export function promotionEvidence(context: RolloutContext): { passed_by?: object; reason?: string | null } {
  const { promotion } = context.operation;
  return promotion && isPassed(context) ? { passed_by: promotion.by, reason: promotion.reason } : {};
}

/** Whether the candidate has taken over from a stable revision that is down: only approvals remain. */
export function isTakenOver({ results }: RolloutContext): boolean {
  return Object.values(results).some((result) => (result as SoakResult | null)?.takeover === true);
}

/** Whether a revision should run, has no ready instance and does not sleep. */
export function isDown(status: WorkloadStatus | undefined): boolean {
  return status !== undefined && status.desired > 0 && status.ready === 0 && !status.isAsleep;
}

export function downEvidence(status: WorkloadStatus | undefined): object {
  const { ready = 0, desired = 0, restarts = 0, message = null } = status ?? {};
  return { ready, desired, restarts, message };
}
