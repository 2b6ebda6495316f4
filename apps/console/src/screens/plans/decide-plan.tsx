import { isSlipwayError } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import type { Plan } from '../../api/items.js';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { usePlanDecision, type PlanDecision, type PlanDecisionBody } from '../../api/plan-decision.js';
import { whoQuery } from '../../api/who.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { PlanPredictionSummary } from '../../rollouts/plan-prediction.js';
import { PlanRolloutFacts } from '../../rollouts/plan-rollout.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { isOwnPlan } from './plan-facts.js';

interface DecidePlanProps {
  plan: Plan;
  verb: PlanDecision;
  onClose: () => void;
}

const DONE = { approve: 'Approval recorded', reject: 'Plan rejected' };

export function DecidePlan({ plan, verb, onClose }: DecidePlanProps) {
  const form = usePlanDecision(verb, plan.content_digest);
  const { body } = form;
  const { data: who } = useQuery(whoQuery);
  const decide = useAction({
    run: (given: PlanDecisionBody) => slipway.autopilot.plans[verb](plan.id, given),
    renews: [['plan', plan.id], ['plans']],
    done: DONE[verb],
    onDone: onClose,
  });
  const isApproval = verb === 'approve';
  const words = ['slipway', 'plans', verb, plan.id, '--plan-digest', plan.content_digest];
  if (body.comment) words.push('--comment', body.comment);
  return (
    <SchemaDialog
      form={form}
      run={decide}
      title={isApproval ? 'Approve this plan?' : 'Reject this plan?'}
      description={
        isApproval
          ? 'Approving only records your approval. Serving does not change.'
          : 'A rejected plan can no longer be approved. Serving does not change.'
      }
      verb={isApproval ? 'Approve' : 'Reject'}
      isDangerous={!isApproval}
      onClose={onClose}
      action={{
        curl: { method: 'POST', path: `/api/v1/autopilot/plans/${encodeURIComponent(plan.id)}/${verb}`, body },
        cli: shellLine(...words, '--yes'),
      }}
      before={
        <>
          <p className="text-sm">
            You decide on the plan as shown: <code className="text-xs wrap-anywhere">{plan.content_digest}</code>
          </p>
          {isApproval && <PlanPredictionSummary plan={plan} />}
          {isApproval && <PlanRolloutFacts plan={plan} />}
          {isApproval && who && isOwnPlan(plan, who.owner) && !decide.error && (
            <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
              You created this plan. Another person must approve it, unless its policy allows self-approval.
            </p>
          )}
        </>
      }
    >
      {isSlipwayError(decide.error, 'self_approval_forbidden') && (
        <p className="text-sm">
          All tokens of one owner, and the tokens created with them, count as one person. Ask another person to sign in
          and open this page.
        </p>
      )}
      {isSlipwayError(decide.error, 'plan_digest_mismatch') && (
        <p className="text-sm">The plan differs from the one shown. Close this dialog and read the plan again.</p>
      )}
    </SchemaDialog>
  );
}
