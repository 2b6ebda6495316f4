import { isSlipwayError, type AnswerOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { request as deletion } from 'request:deleteContextPassport';
import { request as revocation } from 'request:revokeContextPassport';
import { defineAction } from '../../actions/action.js';
import { ActionButtons, useActions } from '../../actions/action-dialog.js';
import { slipway } from '../../api/client.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { useMay } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { Waiting } from '../../ui/waiting.js';

type Passport = AnswerOf<'getContextPassport'>;

const PASSPORT_ACTIONS = [
  defineAction<'revokeContextPassport'>()<Passport>({
    request: revocation,
    verb: 'Revoke',
    isFor: ({ state }) => state === 'active',
    isDangerous: true,
    title: () => 'Revoke this passport?',
    effect: () => <p>Gateways forget which instance serves the session. Its next requests can go to any instance.</p>,
    cli: { words: 'passports revoke', end: '--yes' },
    run: ({ id }) => slipway.contextPassports.revoke(id),
    done: () => 'Passport revoked',
  }),
  defineAction<'deleteContextPassport'>()<Passport>({
    request: deletion,
    verb: 'Delete',
    isFor: ({ state }) => state !== 'active',
    isDangerous: true,
    title: () => 'Delete the record of this passport?',
    effect: () => <p>The next request of the session makes a new passport, with affinity.</p>,
    cli: { words: 'passports delete', end: '--yes' },
    run: ({ id }) => slipway.contextPassports.delete(id),
    done: () => 'Record deleted',
  }),
];

/** Shows the record of the session that the last answer belonged to. */
export function PassportPanel({ id }: { id: string }) {
  const mayRevoke = useMay('operator');
  const { open, dialog } = useActions<Passport>(['passport', id]);
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
  const record = passport.data;
  return (
    <Panel
      title="Context passport"
      note={record && <Chip word={record.state} />}
      actions={mayRevoke && record && <ActionButtons isSmall actions={PASSPORT_ACTIONS} row={record} onOpen={open} />}
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
      {dialog}
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
