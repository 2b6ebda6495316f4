import type { Plan } from '../api/items.js';
import { Chip } from '../ui/chip.js';
import { Facts } from '../ui/facts.js';
import { planRollout } from './plan-text.js';

/** No plan has this many steps or checks; external data is bounded anyway. */
const MOST_LISTED = 32;

/** Shows how the plan will be rolled out, and marks what is dangerous in it. */
export function PlanRolloutFacts({ plan }: { plan: Plan }) {
  const { strategy, steps, gate, target, warning } = planRollout(plan);
  return (
    <div className="space-y-2">
      {warning && (
        <p role="note" className="rounded-md bg-warn-soft p-2 text-sm font-medium text-warn">
          Warning: {warning}
        </p>
      )}
      <Facts
        of={{
          strategy,
          steps: steps.length > 0 && <Listed texts={steps} isOrdered />,
          gate: gate.length > 0 ? <Listed texts={gate} /> : 'none',
          target,
        }}
      />
    </div>
  );
}

function Listed({ texts, isOrdered }: { texts: string[]; isOrdered?: boolean }) {
  const List = isOrdered ? 'ol' : 'ul';
  return (
    <List className={isOrdered ? 'list-decimal pl-4' : undefined}>
      {texts.slice(0, MOST_LISTED).map((text, index) => (
        <li key={index} className="break-words">
          {text}
        </li>
      ))}
    </List>
  );
}

/** The same on one line, for a list. */
export function PlanRolloutLine({ plan }: { plan: Plan }) {
  const { strategy, shares, gate, target, warning } = planRollout(plan);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <span>
        {strategy}
        {shares && `: ${shares}`}
        {target && ` on ${target}`}
      </span>
      {warning ? (
        <span title={warning}>
          <Chip word="no gate" tone="warn" />
        </span>
      ) : (
        gate.length > 0 && <span className="text-xs text-soft">gate: {gate.slice(0, 3).join('; ')}</span>
      )}
    </span>
  );
}
