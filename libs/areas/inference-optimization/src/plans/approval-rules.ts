import { isAmongOwners, isSameOwner } from '@slipway/contracts';
import type { Approver, Plan, PlanCreator } from '@slipway/ports/plans';
import { planErrors } from './plan.errors.js';

/*
 * Four eyes: a person cannot approve what they have created or begun. A person who mints a token can act with it, so
 * each token that descends from one of theirs counts as that person.
 */

export type ApprovedPlan = Pick<Plan, 'creator' | 'preventSelfApproval' | 'requireHostedIdentity'>;

/** The creator of a plan, or the caller who began an operation. */
export type Creator = Pick<PlanCreator, 'owner' | 'minters'>;

/** How the approver is the creator: the same owner, or one's token led to the other's. */
type OwnApproval = 'same_owner' | 'descends_from_creator' | 'led_to_creator';

/**
 * Only a person may approve a plan, and not the person who created it.
 * @throws approver_not_a_person, hosted_identity_required, self_approval_forbidden (403)
 */
export function assertMayApprovePlan(who: Approver, plan: ApprovedPlan): void {
  if (who.owner.type !== 'person') throw planErrors.approver_not_a_person();
  if (plan.requireHostedIdentity && who.actor.type !== 'user') throw planErrors.hosted_identity_required();
  if (!plan.preventSelfApproval) return;
  const own = ownApproval(who, plan.creator, plan.requireHostedIdentity);
  if (own !== undefined) throw planErrors.self_approval_forbidden({ message: PLAN_MESSAGES[own] });
}

const PLAN_MESSAGES: Record<OwnApproval, string | undefined> = {
  same_owner: undefined,
  descends_from_creator: 'This token descends from a token of the creator of the plan.',
  led_to_creator: 'The plan was created with a token that descends from one of yours.',
};

/** The rules of a deployment's policy about approvals. */
export interface StepRules {
  preventSelfApproval: boolean;
  requireHostedIdentity: boolean;
}

/**
 * Every caller may approve a step of an operation, except the one who began it. That includes services: a pipeline
 * approves after checks of its own.
 * @throws self_approval (403)
 */
export function assertMayApproveStep(who: Approver, creator: Creator, rules: StepRules): void {
  if (!rules.preventSelfApproval) return;
  const own = ownApproval(who, creator, rules.requireHostedIdentity);
  if (own !== undefined) throw planErrors.self_approval({ message: STEP_MESSAGES[own] });
}

const STEP_MESSAGES: Record<OwnApproval, string | undefined> = {
  same_owner: undefined,
  descends_from_creator: 'This token descends from a token of the caller who began the operation.',
  led_to_creator: 'The operation was begun with a token that descends from one of yours.',
};

function ownApproval(who: Approver, { owner, minters }: Creator, isHosted: boolean): OwnApproval | undefined {
  if (owner === null) return undefined;
  if (isSameOwner(owner, who.owner)) return 'same_owner';
  if (isAmongOwners(who.minters, owner)) return 'descends_from_creator';
  // A person who mints tokens can invent people, but no identities of the provider. So the reverse check helps only
  // with hosted identities.
  return isHosted && isAmongOwners(minters, who.owner) ? 'led_to_creator' : undefined;
}
