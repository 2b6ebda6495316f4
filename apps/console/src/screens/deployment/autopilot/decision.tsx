import { Link } from '@tanstack/react-router';
import { Chip } from '../../../ui/chip.js';
import { Panel } from '../../../ui/panel.js';
import { Time } from '../../../ui/time.js';
import { useDiagnosis, usePlans, type Diagnosis } from '../deployment-data.js';

type Decision = NonNullable<Diagnosis['decision']>;

/** The last decision of the autopilot: a plan, or the reason why there is none. */
export function DecisionPanel({ diagnosis: { deployment, decision, window } }: { diagnosis: Diagnosis }) {
  return (
    <Panel title="Last decision" note={decision && <DecisionChip decision={decision} />}>
      {decision ? (
        <div className="space-y-1 text-sm">
          <p className="max-w-prose font-medium break-words">{decision.message}</p>
          <p className="text-soft">
            Decided <Time at={decision.at} />
            {decision.until && (
              <>
                , in force until <Time at={decision.until} />
              </>
            )}
            .
          </p>
        </div>
      ) : (
        <p className="text-sm text-soft">The autopilot has not decided anything yet. It checks by itself.</p>
      )}
      <OpenPlans name={deployment} />
      {window && (
        <p className="pt-1 text-xs text-soft">
          The numbers on this page are from requests between <Time at={window.from} /> and <Time at={window.to} />.
        </p>
      )}
    </Panel>
  );
}

function DecisionChip({ decision: { plan_id, because } }: { decision: Decision }) {
  if (plan_id) return <Chip word="plan proposed" tone="info" />;
  return because ? <Chip word={because} tone="plain" /> : null;
}

const OPEN = ['pending', 'approved'];

/** The plans that a person can still approve or roll out. While there is one, the autopilot writes no other. */
function OpenPlans({ name }: { name: string }) {
  const { data = [] } = usePlans(name);
  const open = data.filter(({ approval, stale }) => OPEN.includes(approval.state) && !stale);
  if (open.length === 0) return null;
  return (
    <ul aria-label="Open plans" className="pt-2 text-sm">
      {open.map(({ id, summary, approval }) => (
        <li key={id} className="flex items-start gap-2">
          <Chip word={approval.state} />
          <Link to="/plans/$id" params={{ id }} className="min-w-0 break-words underline">
            {summary || id}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The same on one line, next to the policy and its plans. */
export function DecisionLine({ name }: { name: string }) {
  const decision = useDiagnosis(name).data?.decision;
  if (!decision) return null;
  return (
    <p className="pb-1 text-xs break-words">
      <span className="text-soft">
        Last decision, <Time at={decision.at} />:
      </span>{' '}
      {decision.plan_id ? 'A plan was proposed.' : decision.message}{' '}
      <Link to="/deployments/$name" params={{ name }} search={{ tab: 'autopilot' }} className="underline">
        Why
      </Link>
    </p>
  );
}
