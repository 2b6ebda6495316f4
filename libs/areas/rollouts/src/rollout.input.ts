import type { Deployment } from '@slipway/ports/deployment-records';
import type { Route } from '@slipway/ports/routing';
import { errors } from '@slipway/platform-http';
import { operationErrors } from '@slipway/platform-operations';
import type { AnalysisDto } from './rollout.dto.js';
import type { Strategy } from './rollout.plan.js';

/** What the steps of a rollout need. Written once, when the rollout is accepted. */
export interface RolloutInput {
  deploymentId: string;
  deploymentName: string;
  revisionId: string;
  revisionName: string;
  isReused: boolean;
  strategy: Strategy;
  analysis: AnalysisDto | null;
  progressDeadlineSeconds: number;
  keepPreviousSeconds: number;
  /** What stood when the rollout began, and what a failed one puts back. */
  foundRoute: Route | null;
  foundActiveRevisionId: string | null;
}

/** What the steps of a rollback need. */
export interface RollbackInput {
  deploymentId: string;
  deploymentName: string;
  /** The revision to go back to. */
  revisionId: string;
  revisionName: string;
  /** The revision whose traffic is taken away, if there is one. */
  leftRevisionId: string | null;
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

/** Whether the active revision is the one the client believes it to be. Throws `precondition_failed` (412). */
export function assertActiveRevision(
  expected: string | undefined,
  active: { id: string; name: string; number: number } | undefined,
): void {
  if (expected === undefined) return;
  if (active && [active.id, active.name, String(active.number)].includes(expected)) return;
  throw errors.precondition_failed({ message: `The active revision is ${active?.name ?? 'none'}, not ${expected}.` });
}
