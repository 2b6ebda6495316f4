import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { actorName } from '../../../api/actor-name.js';
import type { Plan } from '../../../api/items.js';
import type { PlanDecision } from '../../../api/plan-decision.js';
import type { Policy } from '../../../api/policy.js';
import { useMay } from '../../../api/who.js';
import { PlanRolloutLine } from '../../../rollouts/plan-rollout.js';
import { planActorText } from '../../../rollouts/plan-text.js';
import { predictionLine } from '../../../rollouts/prediction-text.js';
import { RiskChip } from '../../../rollouts/risk-chip.js';
import { Button } from '../../../ui/button.js';
import { Chip } from '../../../ui/chip.js';
import { EmptyState } from '../../../ui/empty-state.js';
import { Loaded } from '../../../ui/loaded.js';
import { Panel } from '../../../ui/panel.js';
import { Time } from '../../../ui/time.js';
import { numberText } from '../../../ui/text/number-text.js';
import { usePlans, usePolicy } from '../deployment-data.js';
import { PlanDialog } from './plan-dialog.js';
import { PolicyDialog } from './policy-dialog.js';
import { Scrolled } from '../scrolled.js';
import { DecisionLine } from '../autopilot/decision.js';
import { flatText } from '../short-text.js';
import { oneLine } from '../../../ui/text/one-line.js';

const MOST_PLANS = 20;
const MOST_EVIDENCE = 20;

interface PolicyPanelProps {
  name: string;
  className?: string;
  /** Begins the rollout that an approved plan has ready. */
  onRollOut: (ready: object) => void;
}

/** Shows what the autopilot may try here, and its plans. */
export function PolicyPanel({ name, className, onRollOut }: PolicyPanelProps) {
  const policy = usePolicy(name);
  const plans = usePlans(name);
  const mayChange = useMay('admin');
  const [isChanging, setChanging] = useState(false);
  const [decided, setDecided] = useState<{ plan: Plan; decision: PlanDecision }>();
  return (
    <Panel
      title="Policy and plans"
      className={className}
      note={policy.data && <Chip word={policy.data.mode ?? 'recommend'} tone="info" />}
      actions={
        mayChange &&
        policy.data !== undefined && (
          <Button isSmall onClick={() => setChanging(true)}>
            {policy.data ? 'Change policy' : 'Set policy'}
          </Button>
        )
      }
    >
      <Scrolled label="Policy and its plans">
        <Loaded query={policy} what="the policy">
          {(data) =>
            data ? (
              <>
                <DecisionLine name={name} />
                <PolicyFacts policy={data} />
              </>
            ) : (
              <EmptyState
                title="No policy yet. Set one to get proposals for continual optimization."
                command={`slipway policies set ${name} -f policy.yaml`}
              />
            )
          }
        </Loaded>
        <Loaded query={plans} what="the plans">
          {(rows) =>
            rows.length === 0 ? (
              <p className="pt-2 text-xs text-soft">
                No plans yet. Proposed plans appear here and in <code>slipway plans list --deployment {name}</code>.
              </p>
            ) : (
              <ul className="divide-y divide-line">
                {rows.slice(0, MOST_PLANS).map((plan) => (
                  <PlanRow
                    key={plan.id}
                    plan={plan}
                    onRollOut={() => onRollOut(plan.rollout)}
                    onDecide={(decision) => setDecided({ plan, decision })}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Scrolled>
      {isChanging && <PolicyDialog name={name} policy={policy.data ?? null} onClose={() => setChanging(false)} />}
      {decided && <PlanDialog {...decided} onClose={() => setDecided(undefined)} />}
    </Panel>
  );
}

function PolicyFacts({ policy }: { policy: Policy }) {
  const { objective, slos = [], evidence, promotion, experiment_budget: budget, reliability, workload } = policy;
  const facts: [string, string][] = [
    ['Objective', objective ? `${objective.direction} ${objective.metric}` : ''],
    ['SLOs', slos.map(({ metric, stat, threshold }) => `${metric}${stat ? ` ${stat}` : ''} ${threshold}`).join(', ')],
    ['Workload', flatText(workload)],
    [
      'Evidence',
      evidence
        ? `${evidence.min_samples ?? 50} samples, ${evidence.min_duration_seconds ?? 1800} s, confidence ${evidence.confidence ?? 0.95}`
        : '',
    ],
    ['Budget', flatText(budget)],
    ['Reliability', flatText(reliability)],
    [
      'Promotion',
      promotion
        ? `approvals required: ${promotion.approvals_required ?? 1}, self-approval ${promotion.prevent_self_approval === false ? 'allowed' : 'not allowed'}, gain at least ${promotion.min_gain_percent ?? 5} %`
        : '',
    ],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs">
      {facts
        .filter(([, text]) => text)
        .map(([term, text]) => (
          <div key={term} className="contents">
            <dt className="text-soft">{term}</dt>
            <dd className="min-w-0 break-words">{text}</dd>
          </div>
        ))}
      <dt className="text-soft">Version</dt>
      <dd>
        {policy.version}, <Time at={policy.updated_at} /> by {actorName(policy.updated_by)}
      </dd>
    </dl>
  );
}

interface PlanRowProps {
  plan: Plan;
  onDecide: (decision: PlanDecision) => void;
  onRollOut: () => void;
}

function PlanRow({ plan, onDecide, onRollOut }: PlanRowProps) {
  const mayDecide = useMay('operator');
  const { id, summary, risk, approval, stale, evidence, predicted_impact, changes, created_by, expires_at } = plan;
  return (
    <li className="space-y-1 py-2 text-xs">
      <p className="flex flex-wrap items-center gap-2">
        <Link to="/plans/$id" params={{ id }} className="font-medium break-words underline">
          {summary || id}
        </Link>
        <Chip word={approval.state} />
        <RiskChip level={risk.level} />
        {stale && <Chip word="stale" />}
      </p>
      <p className="text-soft">
        Changes{' '}
        {changes
          .slice(0, 10)
          .map(({ path, value }) => `${path} to ${oneLine(value, 60)}`)
          .join(', ')}
        ; expires <Time at={expires_at} />
      </p>
      <p>
        <PlanRolloutLine plan={plan} /> <span className="text-soft">by {planActorText(created_by)}</span>
      </p>
      <ul>
        {evidence.slice(0, MOST_EVIDENCE).map((one, index) => (
          <li key={index}>
            {one.kind} · {one.metric} {one.stat}: {numberText(one.baseline?.value)} ({one.baseline?.n ?? 0}) →{' '}
            {numberText(one.candidate?.value)} ({one.candidate?.n ?? 0}){' '}
            {typeof one.delta_percent === 'number' && <strong>{numberText(one.delta_percent)} %</strong>}
          </li>
        ))}
      </ul>
      <p>
        Predicted impact: {(predictionLine(plan) ?? flatText(predicted_impact)) || 'none'}
        {risk.reasons && risk.reasons.length > 0 && `. Risks: ${oneLine(risk.reasons.join('; '), 300)}`}
      </p>
      {mayDecide && approval.state === 'approved' && !stale && (
        <Button isSmall onClick={onRollOut}>
          Roll out this plan
        </Button>
      )}
      {mayDecide && approval.state === 'pending' && (
        <p className="flex flex-wrap items-center gap-2">
          <Button isSmall kind="primary" onClick={() => onDecide('approve')}>
            Approve
          </Button>
          <Button isSmall onClick={() => onDecide('reject')}>
            Reject
          </Button>
          <span className="font-medium">Approving only records your approval. Serving does not change.</span>
        </p>
      )}
    </li>
  );
}
