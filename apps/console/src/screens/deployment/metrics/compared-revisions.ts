import type { Deployment } from '../../../api/items.js';
import type { Operation } from '../../../api/operation-state.js';

export interface RevisionPair {
  candidate: string | null;
  baseline: string | null;
  /** Whether the two are those of the shown rollout; otherwise the active one is compared with the previous one. */
  isRollout: boolean;
}

type DeploymentRevisions = Pick<Deployment, 'active_revision' | 'candidate_revision' | 'previous_revision'>;

/** Returns the revisions to compare: a candidate without requests is still the candidate. */
export function comparedRevisions(
  deployment: DeploymentRevisions | undefined,
  operation: Pick<Operation, 'kind' | 'result'> | undefined,
): RevisionPair {
  const {
    active_revision: active = null,
    candidate_revision = null,
    previous_revision: previous = null,
  } = deployment ?? {};
  const made = operation?.kind === 'rollout' ? operation.result['revision'] : undefined;
  const candidate = candidate_revision ?? (typeof made === 'string' ? made : null);
  if (!candidate) return { candidate: active, baseline: previous, isRollout: false };
  return { candidate, baseline: candidate === active ? previous : active, isRollout: true };
}
