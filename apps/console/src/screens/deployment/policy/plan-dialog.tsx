import { useAction } from '../../../api/action.js';
import { slipway } from '../../../api/client.js';
import type { Plan } from '../../../api/items.js';
import { usePlanDecision, type PlanDecision, type PlanDecisionBody } from '../../../api/plan-decision.js';
import { SchemaForm } from '../../../forms/schema-form.js';
import { PlanPredictionSummary } from '../../../rollouts/plan-prediction.js';
import { PlanRolloutFacts } from '../../../rollouts/plan-rollout.js';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.js';
import { shellLine } from '../../../ui/text/shell-line.js';
import { Changes } from '../changes.js';
import { useFreshKey } from '../fresh-key.js';

interface PlanDialogProps {
  plan: Plan;
  decision: PlanDecision;
  onClose: () => void;
}

export function PlanDialog({ plan, decision, onClose }: PlanDialogProps) {
  const isApproval = decision === 'approve';
  const form = usePlanDecision(decision, plan.content_digest);
  const { body } = form;
  const idempotencyKey = useFreshKey(JSON.stringify(body));
  const run = useAction({
    run: (given: PlanDecisionBody) =>
      isApproval
        ? slipway.autopilot.plans.approve(plan.id, given, { idempotencyKey })
        : slipway.autopilot.plans.reject(plan.id, given),
    renews: [['plans'], ['plan', plan.id]],
    done: isApproval ? 'Approval recorded' : 'Plan rejected',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={isApproval ? 'Approve this plan?' : 'Reject this plan?'}
      verb={isApproval ? 'Approve' : 'Reject'}
      isDangerous={!isApproval}
      isBusy={run.isPending}
      error={run.error}
      action={{
        curl: {
          method: 'POST',
          path: `/api/v1/autopilot/plans/${plan.id}/${decision}`,
          headers: isApproval ? { 'idempotency-key': idempotencyKey } : {},
          body,
        },
        cli: shellLine(
          ...['slipway', 'plans', decision, plan.id],
          ...['--plan-digest', plan.content_digest],
          ...(body.comment ? ['--comment', body.comment] : []),
        ),
      }}
      onConfirm={() => run.mutate(body)}
    >
      <p className="text-sm">{plan.summary}</p>
      <Changes
        changes={plan.changes.map(({ op = 'replace', path, value }) => ({ op, path, value }))}
        none="No changes."
      />
      {isApproval && <PlanPredictionSummary plan={plan} />}
      {isApproval && <PlanRolloutFacts plan={plan} />}
      {isApproval && (
        <p className="text-sm font-medium">Approving only records your approval. Serving does not change.</p>
      )}
      <SchemaForm form={form} attempt={run} />
    </ConfirmDialog>
  );
}
