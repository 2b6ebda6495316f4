import { isSlipwayError } from '@slipway/sdk';
import { TriangleAlert } from 'lucide-react';
import { Button } from './button.js';

/** Shows the error, its remedy, and the identifiers for those who read the logs. */
export function ErrorNote({ error, onAgain }: { error: unknown; onAgain?: () => void }) {
  const known = isSlipwayError(error) ? error : undefined;
  return (
    <div role="alert" className="flex flex-wrap items-start gap-2 rounded-md bg-bad-soft p-3 text-sm text-bad">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 grow space-y-1">
        <p className="font-medium break-words">{error instanceof Error ? error.message : String(error)}</p>
        {known?.remediation && <p>{known.remediation}</p>}
        {known && known.details.length > 1 && (
          <ul className="list-disc pl-5">
            {known.details.map((detail) => (
              <li key={`${detail.field} ${detail.code}`}>
                <code>{detail.field}</code>: {detail.message}
              </li>
            ))}
          </ul>
        )}
        {known && (
          <p className="text-xs">
            <code>{known.code}</code>
            {known.request_id && (
              <>
                {' · request '}
                <code>{known.request_id}</code>
              </>
            )}
          </p>
        )}
      </div>
      {onAgain && (
        <Button isSmall onClick={onAgain}>
          Try again
        </Button>
      )}
    </div>
  );
}
