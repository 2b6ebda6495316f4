import { WORKER } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { CONFIGURATION_FAULTS, recentFaults, type ConfigurationFault } from '@slipway/dataplane';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { CLAIM_BINDING_FAULTS, type FaultyBinding } from './binding.query.js';

const EVERY_SECONDS = 10;
/** A gateway that could not reach Postgres writes its windows late. */
const LOOK_BACK_SECONDS = 120;
/** Events of one run. The rest follow ten seconds later. */
const AT_ONCE = 200;

/**
 * Reports servers behind slugs that refuse the requests of the gateways because of the operator's configuration, as
 * `RefusedRequests` of the area instances does for revisions.
 */
@Injectable()
export class RefusedBindings {
  @Recurring({ name: 'refused-bindings', everySeconds: EVERY_SECONDS })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      const found = await recentFaults(tx, { seconds: LOOK_BACK_SECONDS, faults: CONFIGURATION_FAULTS });
      if (found.length === 0) return;
      const attempts = new Map(found.map((one) => [`${one.revisionId} ${one.fault}`, one.attempts]));
      const rows = await tx.query<FaultyBinding>(CLAIM_BINDING_FAULTS, [
        found.map(({ revisionId }) => revisionId),
        found.map(({ fault }) => fault),
        AT_ONCE,
      ]);
      for (const row of rows) {
        const event = bindingMisconfigured(row, attempts.get(`${row.id} ${row.fault}`) ?? 0);
        await appendEvents(tx, row.tenant_id, `target-binding/${row.id}`, [event]);
      }
    });
  }
}

const MEANINGS: Record<ConfigurationFault, string> = {
  credential: 'The server refuses the credential of the binding.',
  model_missing: 'The server does not know the model of the binding.',
  redirect: 'The server redirects requests. Check `target.base_url` of the binding.',
};

/** `target_binding.misconfigured`: sent at most once an hour for each fault of a binding. */
function bindingMisconfigured({ id, slug, fault }: FaultyBinding, attempts: number): NewEvent {
  return {
    type: 'target_binding.misconfigured',
    subject: `target-bindings/${id}`,
    actor: WORKER,
    data: { target_binding_id: id, slug, fault, attempts, message: MEANINGS[fault as ConfigurationFault] },
  };
}
