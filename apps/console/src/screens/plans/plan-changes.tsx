import { specValueText, type PlanChange } from './plan-facts.js';

/** The changes of the spec, as a diff. */
export function PlanChanges({ changes }: { changes: PlanChange[] }) {
  if (changes.length === 0) return <p className="text-sm text-soft">The spec does not change.</p>;
  return (
    <ul className="space-y-2 text-sm">
      {changes.map(({ op, path, from, value, rationale }, index) => (
        <li key={`${path} ${index}`} className="min-w-0">
          <p>
            <span className="text-soft">{op}</span> <code className="wrap-anywhere">{path}</code>
          </p>
          {op !== 'add' && from !== undefined && (
            <Side sign="−" says="before" tone="bg-bad-soft text-bad" value={from} />
          )}
          {op !== 'remove' && <Side sign="+" says="after" tone="bg-good-soft text-good" value={value} />}
          {rationale && <p className="break-words text-soft">{rationale}</p>}
        </li>
      ))}
    </ul>
  );
}

function Side({ sign, says, tone, value }: { sign: string; says: string; tone: string; value: unknown }) {
  return (
    <pre className={`px-2 break-all whitespace-pre-wrap ${tone}`}>
      <span aria-hidden>{sign} </span>
      <span className="sr-only">{says}: </span>
      {specValueText(value)}
    </pre>
  );
}
