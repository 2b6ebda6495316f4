import type { PlanDecision, Plan, PlanDto } from '@slipway/ports/plans';

/** A plan as answers show it: what is frozen, then what was decided, then what follows from the clock and the deployment. */
export function planAnswer(plan: Plan, isStale: boolean): PlanDto {
  const approvals = plan.decisions.filter(({ decision }) => decision === 'approved');
  const ended = plan.decisions.find(({ decision }) => decision !== 'approved');
  return {
    ...plan.content,
    content_digest: plan.contentDigest,
    approval: {
      state: plan.state,
      approvals_required: plan.approvalsRequired,
      approvals: approvals.map(shown),
      ended: ended ? shown(ended) : null,
      version: plan.version,
    },
    stale: isStale,
    etag: planEtag(plan, isStale),
  };
}

/**
 * Digest and approval version. What time alone does to a plan is marked as well: a client that polls with If-None-Match
 * would otherwise never learn that it expired or became stale.
 */
export function planEtag(plan: Pick<Plan, 'contentDigest' | 'version' | 'isPastExpiry'>, isStale: boolean): string {
  return `"${plan.contentDigest}.${plan.version}${plan.isPastExpiry ? '.expired' : ''}${isStale ? '.stale' : ''}"`;
}

function shown({ by, at, comment, digest }: PlanDecision) {
  return { by, at, comment, digest };
}
