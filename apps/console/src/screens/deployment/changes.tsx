import { Chip } from '../../ui/chip.js';
import { oneLine } from '../../ui/text/one-line.js';

const MOST = 100;

interface Change {
  op: string;
  path: string;
  value?: unknown;
}

/** Shows a JSON patch as a list of additions, removals and replacements. */
export function Changes({ changes, none }: { changes: readonly Change[]; none: string }) {
  if (changes.length === 0) return <p className="text-sm text-soft">{none}</p>;
  return (
    <div
      className="max-h-60 overflow-auto rounded-md border border-line text-xs"
      tabIndex={0}
      role="region"
      aria-label="Changes"
    >
      <ul className="divide-y divide-line">
        {changes.slice(0, MOST).map(({ op, path, value }) => (
          <li key={`${op} ${path}`} className="flex flex-wrap items-baseline gap-2 px-2 py-1">
            <Chip word={op} tone={op === 'remove' ? 'bad' : op === 'add' ? 'good' : 'info'} />
            <code className="font-medium wrap-anywhere">{path || '/'}</code>
            {value !== undefined && <code className="wrap-anywhere">{oneLine(value, 500)}</code>}
          </li>
        ))}
        {changes.length > MOST && <li className="px-2 py-1">and {changes.length - MOST} more</li>}
      </ul>
    </div>
  );
}
