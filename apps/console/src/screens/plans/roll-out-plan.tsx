import { isProduction, type RehearsalOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Plan } from '../../api/items.js';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { PlanRolloutFacts } from '../../rollouts/plan-rollout.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { Loaded } from '../../ui/loaded.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { lengthText } from '../../ui/text/time-text.js';
import { PlanChanges } from './plan-changes.js';

/** Shows the effect of the rollout, as the api rehearses it, and the button that starts it. */
export function RollOutPlan({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const navigate = useNavigate();
  const name = plan.deployment;
  const body = { plan_id: plan.id };
  const rehearsal = useQuery({
    queryKey: ['plan', plan.id, 'rehearsal'],
    queryFn: ({ signal }) => slipway.deployments.rollouts.rehearse(name, body, { signal }),
    staleTime: 0,
  });
  const deployment = useQuery({
    queryKey: ['deployment', name],
    queryFn: ({ signal }) => slipway.deployments.get(name, { signal }),
  });
  const rollOut = useAction({
    run: () => slipway.deployments.rollouts.create(name, body),
    renews: [['plan', plan.id], ['deployment', name], ['deployments'], ['operations']],
    done: 'Rollout started',
    onDone: ({ operation }) => void navigate({ to: '/operations/$id', params: { id: operation.id } }),
  });
  // Until its environment is known, it may be production.
  const needsName = deployment.data?.environment === undefined || isProduction(deployment.data.environment);
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Roll out this plan to ${name}?`}
      verb="Roll out"
      nameToType={needsName ? name : undefined}
      isBusy={rollOut.isPending || !rehearsal.data?.valid}
      error={rollOut.error}
      action={{
        curl: { method: 'POST', path: `/api/v1/deployments/${encodeURIComponent(name)}/rollouts`, body },
        cli: shellLine('slipway', 'rollouts', 'create', name, '--plan', plan.id, '--yes', '--wait'),
      }}
      onConfirm={() => rollOut.mutate(undefined)}
    >
      <PlanRolloutFacts plan={plan} />
      <Loaded query={rehearsal} what="the preview">
        {(seen) => <RolloutRehearsal seen={seen} />}
      </Loaded>
    </ConfirmDialog>
  );
}

function RolloutRehearsal({ seen }: { seen: RehearsalOf<'createRollout'> }) {
  const { would, steps, diff, strategy, capacity, warnings = [] } = seen;
  return (
    <div className="space-y-2 text-sm">
      <p className="break-words">
        This would <strong>{would.replaceAll('_', ' ')}</strong>
        {strategy && ` (strategy: ${strategy.replaceAll('_', ' ')})`}. Nothing was changed.
      </p>
      <ol aria-label="Steps" className="flex flex-wrap gap-x-3 gap-y-1 text-soft">
        {steps.map((step, index) => (
          <li key={step}>
            {index + 1}. {step.replaceAll('_', ' ')}
          </li>
        ))}
      </ol>
      <p>
        Capacity on {capacity.target}: {capacity.needed} needed, {capacity.free ?? 'an unknown number'} free.
        {capacity.gap_seconds ? ` Requests wait for about ${lengthText(capacity.gap_seconds * 1000)}.` : ''}
      </p>
      {warnings.map(({ code, field, message }) => (
        <p key={`${code} ${field}`} className="rounded-md bg-warn-soft p-2 text-warn">
          {field}: {message ?? code.replaceAll('_', ' ')}
        </p>
      ))}
      <PlanChanges changes={diff} />
    </div>
  );
}
