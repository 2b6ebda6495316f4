import { isAmongOwners, isSameOwner } from '@slipway/contracts';
import type { Principal } from '@slipway/platform-http';
import type { Plan } from '@slipway/ports/plans';
import { planErrors } from './plan.errors.js';

export type Approver = Pick<Principal, 'actor' | 'owner' | 'minters'>;
export type ApprovedPlan = Pick<Plan, 'creator' | 'preventSelfApproval' | 'requireHostedIdentity'>;

/**
 * Four eyes: an approval is of a person, and of another one than the plan's creator.
 * @throws approver_not_a_person, hosted_identity_required, self_approval_forbidden (403)
 */
export function assertMayApprove(who: Approver, plan: ApprovedPlan): void {
  if (who.owner.type !== 'person') throw planErrors.approver_not_a_person();
  if (plan.requireHostedIdentity && who.actor.type !== 'user') throw planErrors.hosted_identity_required();
  if (!plan.preventSelfApproval || plan.creator.owner === null) return;
  if (isSameOwner(plan.creator.owner, who.owner)) throw planErrors.self_approval_forbidden();
  if (isAmongOwners(who.minters, plan.creator.owner)) {
    throw planErrors.self_approval_forbidden({ message: 'This token came from one of the creator of the plan.' });
  }
  // Whoever mints tokens can invent people, but not identities of the provider: only there does it help to look the other way round.
  if (plan.requireHostedIdentity && isAmongOwners(plan.creator.minters, who.owner)) {
    throw planErrors.self_approval_forbidden({
      message: 'The plan was made with a token that came from one of yours.',
    });
  }
}
