import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SelectField, TextField } from '../../ui/field.js';
import { shellLine } from '../../ui/shell-line.js';
import { useDeployment, useOperations, useRevisions } from './deployment-data.js';
import { useFreshKey } from './fresh-key.js';
import { isLive } from './operation-state.js';
import { RehearsedDialog } from './rehearsed-dialog.js';
import { keyOf } from './renewal.js';
import { whyNoRollback } from './traffic.js';

interface RollbackDialogProps {
  name: string;
  /** The revision that was chosen already; empty: the api chooses the last good one. */
  to: string;
  onClose: () => void;
}

interface RollbackBody {
  to_revision?: string;
  reason?: string;
}

export function RollbackDialog({ name, to, onClose }: RollbackDialogProps) {
  const { data: deployment } = useDeployment(name);
  const { data: operations } = useOperations(name);
  const { data: revisions } = useRevisions(name);
  const [revision, setRevision] = useState(to);
  const [reason, setReason] = useState('');
  const live = (operations ?? []).find(isLive);
  const body: RollbackBody = { ...(revision && { to_revision: revision }), ...(reason && { reason }) };
  const idempotencyKey = useFreshKey(JSON.stringify(body));
  const run = useAction({
    run: (given: object) => slipway.deployments.rollbacks.create(name, given, { idempotencyKey }),
    renews: ['deployment', 'operations', 'route', 'revisions'].map((what) => keyOf(what, name)),
    done: 'The rollback has begun',
    onDone: onClose,
  });
  const active = deployment?.active_revision ?? null;
  return (
    <RehearsedDialog
      title={`Roll back ${name}`}
      verb="Roll back"
      isDangerous
      nameToType={deployment?.environment === 'production' ? name : undefined}
      body={body}
      rehearse={(given) => slipway.deployments.rollbacks.rehearse(name, given)}
      run={run}
      actionOf={(given) => ({
        curl: {
          method: 'POST',
          path: `/api/v1/deployments/${name}/rollback`,
          headers: { 'idempotency-key': idempotencyKey },
          body: given,
        },
        cli: shellLine(
          ...['slipway', 'rollback', name],
          ...(revision ? ['--to-revision', revision] : []),
          ...(reason ? ['--reason', reason] : []),
          ...['--idempotency-key', idempotencyKey],
        ),
      })}
      onClose={onClose}
    >
      {live && (
        <p className="rounded-md bg-warn-soft p-2 text-sm text-warn">
          A {live.kind} goes on. The rollback takes over from it at once; what it has built is removed.
        </p>
      )}
      <SelectField label="To revision" value={revision} onChange={(event) => setRevision(event.target.value)}>
        <option value="">The last good one (the api chooses)</option>
        {revisions?.pages
          .flatMap(({ data }) => data)
          .map((one) => {
            const why = whyNoRollback(one, active, live !== undefined);
            return (
              <option key={one.id} value={one.name} disabled={why !== null}>
                {one.number}: {one.spec.model.id}, {one.state}
                {why && ` (${why})`}
              </option>
            );
          })}
      </SelectField>
      <TextField
        label="Reason"
        hint="Stands in the operation and the audit log."
        maxLength={2000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </RehearsedDialog>
  );
}
