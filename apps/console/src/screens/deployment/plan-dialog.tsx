import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { TextField } from '../../ui/field.js';
import { shellLine } from '../../ui/shell-line.js';
import { Changes } from './changes.js';
import type { Plan } from './deployment-data.js';
import { useFreshKey } from './fresh-key.js';
import { keyOf } from './renewal.js';

export type PlanDecision = 'approve' | 'reject';

interface PlanDialogProps {
  name: string;
  plan: Plan;
  decision: PlanDecision;
  onClose: () => void;
}

/** A person's word on a plan, on exactly what they have read: its digest goes along. */
export function PlanDialog({ name, plan, decision, onClose }: PlanDialogProps) {
  const [comment, setComment] = useState('');
  const isApproval = decision === 'approve';
  const body = { ...(isApproval && { plan_digest: plan.content_digest }), ...(comment && { comment }) };
  const idempotencyKey = useFreshKey(JSON.stringify(body));
  const run = useAction({
    run: () =>
      isApproval
        ? slipway.autopilot.plans.approve(plan.id, { plan_digest: plan.content_digest, ...body }, { idempotencyKey })
        : slipway.autopilot.plans.reject(plan.id, body),
    renews: [keyOf('plans', name)],
    done: isApproval ? 'The approval is recorded' : 'The plan is rejected',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={isApproval ? 'Approve the plan' : 'Reject the plan'}
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
          ...(isApproval ? ['--plan-digest', plan.content_digest] : []),
          ...(comment ? ['--comment', comment] : []),
        ),
      }}
      onConfirm={() => run.mutate(undefined)}
    >
      <p className="text-sm">{plan.summary}</p>
      <Changes
        changes={plan.changes.map(({ op = 'replace', path, value }) => ({ op, path, value }))}
        none="It changes nothing."
      />
      {isApproval && <p className="text-sm font-medium">approval records only; serving does not change</p>}
      <TextField
        label="Comment"
        maxLength={2000}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
    </ConfirmDialog>
  );
}
