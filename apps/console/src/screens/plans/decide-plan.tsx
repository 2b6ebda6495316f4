import { isSlipwayError } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import type { Plan } from '../../api/items.js';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { usePlanDecision, type PlanDecision, type PlanDecisionBody } from '../../api/plan-decision.js';
import { whoQuery } from '../../api/who.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { isOwnPlan } from './plan-facts.js';

interface DecidePlanProps {
  plan: Plan;
  verb: PlanDecision;
  onClose: () => void;
}

const DONE = { approve: 'Your approval is recorded', reject: 'The plan is rejected' };

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
      title={isApproval ? 'Approve the plan?' : 'Reject the plan?'}
      description={
        isApproval
          ? 'Approval records only; serving does not change.'
          : 'A rejected plan cannot be approved any more. Serving does not change.'
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
            What is decided is the plan as you see it: <code className="text-xs break-all">{plan.content_digest}</code>
          </p>
          {isApproval && who && isOwnPlan(plan, who.owner) && !decide.error && (
            <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">
              You made this plan: another person has to approve it, unless its policy says otherwise.
            </p>
          )}
        </>
      }
    >
      {isSlipwayError(decide.error, 'self_approval_forbidden') && (
        <p className="text-sm">
          Four eyes: all tokens of one owner are one person, and so is a token that one of theirs has made. Have
          somebody else open this page, signed in as themselves.
        </p>
      )}
      {isSlipwayError(decide.error, 'plan_digest_mismatch') && (
        <p className="text-sm">This is not what was shown: close this, and read the plan again.</p>
      )}
    </SchemaDialog>
  );
}
