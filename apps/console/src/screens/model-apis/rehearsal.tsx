import type { RehearsalOf } from '@slipway/sdk';

/** A page is no place for more. */
const MOST_LINES = 100;
const LONGEST_VALUE = 300;

/** What a publication would do: nothing was changed. */
export function PublicationRehearsal({ rehearsal }: { rehearsal: RehearsalOf<'createModelApiPublication'> }) {
  const { would, diff, warnings = [] } = rehearsal;
  return (
    <div role="status" className="space-y-2 rounded-md bg-good-soft p-3 text-sm text-good">
      <p className="font-medium">The api would take it: {would.replaceAll('_', ' ')}. Nothing was changed.</p>
      {diff.length > 0 && (
        <pre tabIndex={0} role="region" aria-label="What would change" className="max-h-48 overflow-auto text-xs">
          {diff
            .slice(0, MOST_LINES)
            .map(({ op, path, value }) => `${op} ${path} ${rehearsedValueText(value)}`)
            .join('\n')}
        </pre>
      )}
      {warnings.length > 0 && (
        <ul className="list-disc pl-5">
          {warnings.slice(0, MOST_LINES).map(({ field, code, message }) => (
            <li key={`${field} ${code}`}>
              <code>{field}</code>: {message ?? code}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const rehearsedValueText = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, LONGEST_VALUE);
