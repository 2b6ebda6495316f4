import { useState } from 'react';
import { isProduction } from '@slipway/sdk';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Deployment } from '../../api/items.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { Time } from '../../ui/time.js';
import { keyOf } from './renewal.js';

const MOST_REVISIONS = 12;

const requestsText = (count: number): string => `${count} ${count === 1 ? 'request' : 'requests'}`;

/** Shows the requests that still run on revisions without traffic, and ends them on request. */
export function DrainingNote({ deployment }: { deployment: Deployment }) {
  const mayEnd = useMay('operator');
  const [isAsked, setAsked] = useState(false);
  const { draining } = deployment;
  if (!draining && !isAsked) return null;
  return (
    <div role="status" className="flex flex-wrap items-start gap-2 rounded-md bg-warn-soft p-2 text-xs text-warn">
      <div className="min-w-0 grow">
        <p className="font-medium">
          {draining
            ? `Draining: waiting for ${requestsText(draining.requests)} on revisions that no longer get traffic.`
            : 'Draining has ended.'}
        </p>
        <ul>
          {draining?.revisions.slice(0, MOST_REVISIONS).map(({ revision, requests, until }) => (
            <li key={revision}>
              {revision}: {requestsText(requests)}, until <Time at={until} />
            </li>
          ))}
        </ul>
      </div>
      {mayEnd && draining && (
        <Button isSmall onClick={() => setAsked(true)}>
          End now
        </Button>
      )}
      {isAsked && <EndDrainDialog deployment={deployment} onClose={() => setAsked(false)} />}
    </div>
  );
}

interface EndDrainDialogProps {
  deployment: Deployment;
  onClose: () => void;
}

function EndDrainDialog({ deployment: { name, draining, environment }, onClose }: EndDrainDialogProps) {
  const end = useAction<void, unknown>({
    run: () => slipway.deployments.endDrain(name),
    renews: [...['deployment', 'instances'].map((what) => keyOf(what, name)), ['deployments']],
    done: 'Draining ended',
    onDone: onClose,
  });
  const requests = draining?.requests ?? 0;
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="End draining now?"
      verb="End now"
      dismissal="Keep draining"
      isDangerous
      nameToType={isProduction(environment) ? name : undefined}
      isBusy={end.isPending}
      error={end.error}
      action={{
        curl: { method: 'POST', path: `/api/v1/deployments/${name}/end-drain` },
        cli: shellLine('slipway', 'deployments', 'end-drain', name, '--yes'),
      }}
      onConfirm={() => end.mutate()}
    >
      <p className="text-sm">
        {requests === 1
          ? 'The request that still runs breaks, and its client gets an error.'
          : `The ${requestsText(requests)} that still run break, and their clients get an error.`}
      </p>
    </ConfirmDialog>
  );
}
