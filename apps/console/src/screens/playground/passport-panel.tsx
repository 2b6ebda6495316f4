import { isSlipwayError } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { Waiting } from '../../ui/waiting.js';

/** Shows the record of the session that the last answer belonged to. */
export function PassportPanel({ id }: { id: string }) {
  const mayRevoke = useMay('operator');
  const [isAsking, setAsking] = useState(false);
  const passport = useQuery({
    queryKey: ['passport', id],
    queryFn: ({ signal }) =>
      slipway.contextPassports.get(id, { signal }).catch((error: unknown) => {
        // Not recorded yet: that is no failure.
        if (isSlipwayError(error, 'context_passport_not_found')) return null;
        throw error;
      }),
    refetchInterval: REFRESH_MS,
  });
  const revoke = useAction({
    run: () => slipway.contextPassports.revoke(id),
    renews: [['passport', id]],
    done: 'Passport revoked',
    onDone: () => setAsking(false),
  });
  const record = passport.data;
  return (
    <Panel
      title="Context passport"
      note={record && <Chip word={record.state} />}
      actions={
        mayRevoke &&
        record?.state === 'active' && (
          <Button kind="quiet" isSmall onClick={() => setAsking(true)}>
            Revoke
          </Button>
        )
      }
    >
      {record ? (
        <dl className="space-y-1 text-sm">
          <Row name="ID">{record.id}</Row>
          <Row name="Bound to">{record.affinity.revision ?? record.affinity.deployment}</Row>
          <Row name="Bound">
            <Time at={record.affinity.bound_at} />
          </Row>
          <Row name="Requests">
            {`${record.stats.requests}: ${record.stats.hits} hits, ${record.stats.misses} misses, ${record.stats.rebinds} rebinds`}
          </Row>
          {record.stats.last_rebind_reason && (
            <Row name="Move reason">{record.stats.last_rebind_reason.replaceAll('_', ' ')}</Row>
          )}
          <Row name="Expires">
            <Time at={record.expires_at} />
          </Row>
          <Row name="Guarantee">best effort, the session may move</Row>
        </dl>
      ) : passport.error ? (
        <ErrorNote error={passport.error} onAgain={() => void passport.refetch()} />
      ) : (
        <Waiting for="the record, which gateways write in batches" />
      )}
      {isAsking && (
        <ConfirmDialog
          isOpen
          onClose={() => setAsking(false)}
          title="Revoke this passport?"
          verb="Revoke"
          isDangerous
          isBusy={revoke.isPending}
          error={revoke.error}
          action={{
            curl: { method: 'DELETE', path: `/api/v1/context-passports/${id}` },
            cli: `slipway passports revoke ${id} --yes`,
          }}
          onConfirm={() => revoke.mutate(undefined)}
        >
          <p className="text-sm">
            Gateways forget which instance serves the session. Its next requests can go to any instance.
          </p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[6rem_1fr] gap-2">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}
