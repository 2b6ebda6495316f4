import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Plan } from '../../api/items.js';
import { slipway } from '../../api/client.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { PlanRolloutFacts } from '../../rollouts/plan-rollout.js';
import { OutcomeNotes, PredictionFacts, PredictionPicture } from '../../rollouts/plan-prediction.js';
import { planActorText } from '../../rollouts/plan-text.js';
import { planPrediction } from '../../rollouts/prediction-text.js';
import { RiskChip } from '../../rollouts/risk-chip.js';
import { Chip } from '../../ui/chip.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { PlanApproval } from './plan-approval.js';
import { PlanChanges } from './plan-changes.js';
import { PlanEvidence } from './plan-evidence.js';
import { specValueText } from './plan-facts.js';

export function PlanScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery({
    queryKey: ['plan', id],
    queryFn: ({ signal }) => slipway.autopilot.plans.get(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  if (!query.data)
    return (
      <>
        <ScreenHead title="Plan" />
        <Loaded query={query} what="the plan">
          {() => null}
        </Loaded>
      </>
    );
  return <Shown plan={query.data} />;
}

function Shown({ plan }: { plan: Plan }) {
  const isPredicted = planPrediction(plan) !== null;
  return (
    <>
      <ScreenHead
        title={
          <>
            Plan for{' '}
            <Link to="/deployments/$name" params={{ name: plan.deployment }} className="underline">
              {plan.deployment}
            </Link>
          </>
        }
        note={
          <>
            <Chip word={plan.approval.state} />
            {plan.kind && <Chip word={plan.kind} tone="plain" />}
            {plan.stale && <Chip word="stale" />}
            <RiskChip level={plan.risk.level} />
          </>
        }
      />
      {plan.summary && <p className="mb-3 max-w-prose break-words whitespace-pre-wrap">{plan.summary}</p>}
      <div className="grid gap-3 lg:grid-cols-3">
        <div className="min-w-0 space-y-3 lg:col-span-2">
          {isPredicted && (
            <Panel title="Now and predicted">
              <PredictionPicture plan={plan} />
              <OutcomeNotes plan={plan} />
            </Panel>
          )}
          {!isPredicted && plan.outcomes?.length > 0 && (
            <Panel title="Outcomes">
              <OutcomeNotes plan={plan} />
            </Panel>
          )}
          <Panel title="Changes" note={<span className="text-sm text-soft">on {plan.base_revision}</span>}>
            <PlanChanges changes={plan.changes} />
          </Panel>
          <Panel title="Rollout">
            <PlanRolloutFacts plan={plan} />
          </Panel>
          <Panel title="Evidence">
            <PlanEvidence evidence={plan.evidence} />
          </Panel>
        </div>
        <div className="min-w-0 space-y-3">
          <Panel title="Approval">
            <PlanApproval plan={plan} />
          </Panel>
          {isPredicted ? (
            <Panel title="Cost and assumptions">
              <PredictionFacts plan={plan} />
            </Panel>
          ) : (
            <Panel title="Predicted impact" note={<span className="text-xs text-soft">in its author's words</span>}>
              <Impact impact={plan.predicted_impact} />
            </Panel>
          )}
          <Panel title="Risk" note={<RiskChip level={plan.risk.level} />}>
            <Reasons reasons={plan.risk.reasons ?? []} />
          </Panel>
          <Panel title="About">
            <About plan={plan} />
          </Panel>
        </div>
      </div>
    </>
  );
}

function Impact({ impact }: { impact: Plan['predicted_impact'] }) {
  const entries = Object.entries(impact ?? {});
  if (entries.length === 0) return <p className="text-sm text-soft">No impact is predicted.</p>;
  const shown = entries.slice(0, 50);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
      {shown.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="break-words text-soft">{name}</dt>
          <dd className="min-w-0 break-words whitespace-pre-wrap">
            {typeof value === 'string' ? value.slice(0, 2_000) : specValueText(value)}
          </dd>
        </div>
      ))}
      {entries.length > shown.length && <p className="text-soft">and {entries.length - shown.length} more</p>}
    </dl>
  );
}

function Reasons({ reasons }: { reasons: string[] }) {
  if (reasons.length === 0) return <p className="text-sm text-soft">No reasons are given.</p>;
  return (
    <ul className="list-disc space-y-1 pl-5 text-sm">
      {reasons.map((reason) => (
        <li key={reason} className="break-words">
          {reason}
        </li>
      ))}
    </ul>
  );
}

function About({ plan }: { plan: Plan }) {
  const { created_by: maker } = plan;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
      <dt className="text-soft">Created by</dt>
      <dd className="break-words" title={`${maker.type} ${maker.id}`}>
        {planActorText(maker)}
      </dd>
      <dt className="text-soft">Created</dt>
      <dd>
        <Time at={plan.created_at} />
      </dd>
      <dt className="text-soft">Expires</dt>
      <dd>
        <Time at={plan.expires_at} />
      </dd>
      <dt className="text-soft">Policy</dt>
      <dd>{plan.policy_version === null ? 'none' : `version ${plan.policy_version}`}</dd>
      <dt className="text-soft">Base digest</dt>
      <dd className="wrap-anywhere">
        <code className="text-xs">{plan.base_spec_digest}</code>
      </dd>
      <dt className="text-soft">Plan digest</dt>
      <dd className="wrap-anywhere">
        <code className="text-xs">{plan.content_digest}</code>
      </dd>
      <dt className="text-soft">ID</dt>
      <dd className="wrap-anywhere">
        <code className="text-xs">{plan.id}</code>
      </dd>
    </dl>
  );
}
