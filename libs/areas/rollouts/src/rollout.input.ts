import type { CapacityForecast, Takeover } from '@slipway/ports/instances';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { Route, RouteHold } from '@slipway/ports/routing';
import { errors } from '@slipway/platform-http';
import { operationErrors } from '@slipway/platform-durable/operations';
import type { AnalysisDto } from '@slipway/ports/deployment-records';
import { rolloutErrors } from './rollout.errors.js';
import type { Strategy } from './rollout.plan.js';

/** How one revision makes room for another where there is no room for both. */
export interface ChangeoverInput {
  /** What is stopped first, with the share of the traffic that it had. */
  stops: { revisionId: string; revisionName: string; weight: number }[];
  /** The longest that a request waits. */
  holdSeconds: number;
  /** By the last measured starts; null where none was measured. */
  estimatedSeconds: number | null;
}

/** What the steps of a rollout need. Written once, when the rollout is accepted. */
export interface RolloutInput {
  deploymentId: string;
  deploymentName: string;
  revisionId: string;
  revisionName: string;
  isReused: boolean;
  strategy: Strategy;
  analysis: AnalysisDto | null;
  /** The plan that it executes. Absent in rollouts that an earlier version accepted. */
  planId?: string | null;
  progressDeadlineSeconds: number;
  keepPreviousSeconds: number;
  /** What stood when the rollout began, and what a failed one puts back. */
  foundRoute: Route | null;
  foundActiveRevisionId: string | null;
  /** Of a recreate. */
  changeover?: ChangeoverInput;
}

/** Why a rollback goes where it goes, as `result.because` says it, and in words. */
export const BECAUSE = {
  named: 'which the request names',
  previous: 'the last good one before what is active',
  active_when_rollout_began: 'which was active when the rollout began',
  last_good_before:
    'the last good one before what was active when the rollout began, because that has no ready instance',
} as const;

/** What the steps of a rollback need. */
export interface RollbackInput {
  deploymentId: string;
  deploymentName: string;
  /** The revision to go back to. */
  revisionId: string;
  revisionName: string;
  /** The revision whose traffic is taken away, if there is one. */
  leftRevisionId: string | null;
  /** Absent, like the next one, in rollbacks that an earlier version accepted. */
  because?: keyof typeof BECAUSE;
  /**
   * What one that ends before it has moved the traffic puts back: the route that stood when it began, and in place of one that a
   * rollout was in the midst of moving, the route which that rollout had found.
   */
  foundRoute?: Route | null;
  /** Where there was no room for its target beside what runs. */
  changeover?: ChangeoverInput;
}

/** What a route sends requests to, but for one revision: what makes room for it. */
export function stopsOf(route: Route | null | undefined, exceptRevisionId: string): ChangeoverInput['stops'] {
  return (route?.targets ?? [])
    .filter(({ revisionId }) => revisionId !== exceptRevisionId)
    .map((target) => ({ ...target }));
}

/** Those of them that had traffic, and whether a change-over stops them first. */
export function takeOverFrom(stops: ChangeoverInput['stops'], changeover?: ChangeoverInput): Takeover {
  const revisionIds = stops.filter(({ weight }) => weight > 0).map(({ revisionId }) => revisionId);
  return { revisionIds, areStopped: changeover !== undefined };
}

/** The same for the steps of an operation. */
export function takeOverOf(input: Pick<RollbackInput, 'revisionId' | 'foundRoute' | 'changeover'>): Takeover {
  return takeOverFrom(input.changeover?.stops ?? stopsOf(input.foundRoute, input.revisionId), input.changeover);
}

/** What a rehearsal says of the room for the revision that comes. */
export interface Capacity {
  target: string;
  needed: number;
  /** Null: nobody knows. */
  free: number | null;
  /** For how long requests are expected to wait; 0 where none does, null where no start was measured. */
  gap_seconds: number | null;
}

export function capacityOf(
  { target, needed, free }: CapacityForecast,
  changeover: ChangeoverInput | undefined,
): Capacity {
  return { target, needed, free, gap_seconds: changeover ? changeover.estimatedSeconds : 0 };
}

/** What an operation's result says of its change-over from the start. */
export function heldResult({ holdSeconds, estimatedSeconds }: ChangeoverInput) {
  return { hold_seconds: holdSeconds, estimated_gap_seconds: estimatedSeconds };
}

/** For steps that only an operation with a change-over has. */
export function changeoverOf({ changeover }: { changeover?: ChangeoverInput }): ChangeoverInput {
  if (!changeover) throw new Error('a step of a change-over in an operation without one');
  return changeover;
}

export function changeoverHold({ holdSeconds, estimatedSeconds }: ChangeoverInput): RouteHold {
  return { maxSeconds: holdSeconds, estimatedSeconds };
}

/** Where a rollback goes, and why. */
export function targetMessage({ revisionName, because }: Pick<RollbackInput, 'revisionName' | 'because'>): string {
  return because ? `${revisionName}, ${BECAUSE[because]}` : revisionName;
}

/** Whether a rollout may begin on this deployment. Throws the conflict that forbids it. */
export function rolloutAllowed(deployment: Pick<Deployment, 'state' | 'currentOperationId' | 'name'>): void {
  if (deployment.state === 'deleting')
    throw operationErrors.operation_in_progress({ message: `Deployment ${deployment.name} is being deleted.` });
  if (deployment.currentOperationId === null) return;
  throw operationErrors.operation_in_progress({
    message: `Operation ${deployment.currentOperationId} is running on deployment ${deployment.name}.`,
    extra: { operation_id: deployment.currentOperationId },
  });
}

/**
 * Whether a deployment's protection lets a rollout begin, or begin again, that executes this plan or none. A plan starts from an active
 * revision, so the first one comes without. Throws `plan_required` (409).
 */
export function assertAdmitted(
  { name, protection, activeRevisionId }: Pick<Deployment, 'name' | 'protection' | 'activeRevisionId'>,
  planId: string | null | undefined,
): void {
  if (protection.rollouts === 'any' || activeRevisionId === null || planId) return;
  const message = `Deployment ${name} takes only rollouts of an approved plan: its protection.rollouts is ${protection.rollouts}.`;
  throw rolloutErrors.plan_required({ message, details: [{ field: 'plan_id', code: 'required', message }] });
}

/** Whether the active revision is the one the client believes it to be. Throws `precondition_failed` (412). */
export function assertActiveRevision(
  expected: string | undefined,
  active: { id: string; name: string; number: number } | undefined,
): void {
  if (expected === undefined) return;
  if (active && [active.id, active.name, String(active.number)].includes(expected)) return;
  throw errors.precondition_failed({ message: `The active revision is ${active?.name ?? 'none'}, not ${expected}.` });
}
