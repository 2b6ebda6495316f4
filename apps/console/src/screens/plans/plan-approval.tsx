import { useQuery } from '@tanstack/react-query';
import { Check, Rocket, X } from 'lucide-react';
import { useState } from 'react';
import type { Plan } from '../../api/items.js';
import { useMay, whoQuery } from '../../api/who.js';
import { planActorText } from '../../rollouts/plan-text.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/time.js';
import { DecidePlan } from './decide-plan.js';
import { whyNotApprovable, whyNotExecutable } from './plan-facts.js';
import { RollOutPlan } from './roll-out-plan.js';

type PlanAction = 'approve' | 'reject' | 'roll out';

export function PlanApproval({ plan }: { plan: Plan }) {
  const mayDecide = useMay('operator');
  const { data: who } = useQuery(whoQuery);
  const [asked, setAsked] = useState<PlanAction>();
  const { state, approvals, approvals_required: needed, ended } = plan.approval;
  const whyNot = who && whyNotApprovable(plan, who.owner);
  const notYet = whyNotExecutable(plan);
  const close = () => setAsked(undefined);
  return (
    <div className="space-y-3 text-sm">
      <p>
        {approvals.length} of {needed} required {needed === 1 ? 'approval' : 'approvals'}.
      </p>
      {approvals.map((decision) => (
        <Decision key={`${decision.by.id} ${decision.at}`} word="approved" decision={decision} />
      ))}
      {ended && <Decision word={state} decision={ended} />}
      {mayDecide && state === 'pending' && (
        <div className="space-y-1">
          <div className="flex flex-wrap gap-2">
            {!whyNot && (
              <Button
                kind="primary"
                icon={<Check aria-hidden className="size-4" />}
                onClick={() => setAsked('approve')}
              >
                Approve
              </Button>
            )}
            <Button kind="danger" icon={<X aria-hidden className="size-4" />} onClick={() => setAsked('reject')}>
              Reject
            </Button>
          </div>
          {whyNot ? (
            <p>{whyNot}</p>
          ) : (
            <p className="text-soft">Approving only records your approval. Serving does not change.</p>
          )}
        </div>
      )}
      {notYet ? (
        state !== 'pending' && <p>This plan cannot be rolled out. {notYet}</p>
      ) : (
        <div className="space-y-1">
          {mayDecide && (
            <Button
              kind="primary"
              icon={<Rocket aria-hidden className="size-4" />}
              onClick={() => setAsked('roll out')}
            >
              Roll out this plan
            </Button>
          )}
          <p className="text-soft">The plan is approved and current. Nothing changes until you roll it out.</p>
        </div>
      )}
      {asked === 'roll out' && <RollOutPlan plan={plan} onClose={close} />}
      {(asked === 'approve' || asked === 'reject') && <DecidePlan plan={plan} verb={asked} onClose={close} />}
    </div>
  );
}

type DecisionFacts = Plan['approval']['approvals'][number];

function Decision({ word, decision: { by, at, comment } }: { word: string; decision: DecisionFacts }) {
  return (
    <div className="border-l-2 border-line-strong pl-2">
      <p className="break-words">
        <span title={`${by.type} ${by.id}`}>{planActorText(by)}</span> <span className="text-soft">{word}</span>{' '}
        <Time at={at} />
      </p>
      {comment && <p className="break-words whitespace-pre-wrap text-soft">{comment}</p>}
    </div>
  );
}
