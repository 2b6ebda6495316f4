import type { Deployment } from '../../api/items.js';
import { Time } from '../../ui/time.js';

const MOST_LINES = 20;

interface FailedStartFacts {
  revision: string;
  at: string;
  cause: string;
  message: string;
  remediation: string;
  exit_code?: number | null;
  signal?: string | null;
  /** The oldest first. */
  log_tail?: string[];
}

/** Shows the last failed start until a later one succeeds: the cause first. */
export function FailedStart({ deployment }: { deployment: Deployment }) {
  const { last_failed_start: start } = deployment as { last_failed_start?: FailedStartFacts | null };
  if (!start) return null;
  const { revision, at, cause, message, remediation, exit_code, signal, log_tail = [] } = start;
  const end = signal ?? (typeof exit_code === 'number' ? `exit code ${exit_code}` : undefined);
  return (
    <section aria-label="Last failed start" className="mb-2 space-y-1 rounded-md bg-bad-soft p-2 text-sm text-bad">
      <p className="font-medium break-words">
        {message} <code className="text-xs">{cause}</code>
      </p>
      <p className="break-words">{remediation}</p>
      <p className="text-xs">
        The last start of {revision} failed <Time at={at} />
        {end && ` with ${end}`}.
      </p>
      {log_tail.length > 0 && (
        <details className="text-xs">
          <summary className="cursor-pointer">Last lines of its output</summary>
          <pre
            tabIndex={0}
            role="region"
            aria-label="Last lines of its output"
            className="mt-1 max-h-40 overflow-auto rounded bg-sunken p-2 break-all whitespace-pre-wrap text-text"
          >
            {log_tail.slice(-MOST_LINES).join('\n')}
          </pre>
        </details>
      )}
    </section>
  );
}
