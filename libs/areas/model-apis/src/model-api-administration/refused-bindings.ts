import { WORKER } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { claimFaults, type ConfigurationFault, type ReportedFault } from '@slipway/dataplane';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { CLAIM_BINDING_FAULTS, type FaultyBinding } from './binding.query.js';

const EVERY_SECONDS = 10;

/**
 * Reports servers behind slugs that refuse the requests of the gateways because of the operator's configuration, as
 * `RefusedRequests` of the area instances does for revisions.
 */
@Injectable()
export class RefusedBindings {
  @Recurring({ name: 'refused-bindings', everySeconds: EVERY_SECONDS })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      const rows = await claimFaults(
        tx,
        (values) => tx.query<FaultyBinding>(CLAIM_BINDING_FAULTS, values),
        ({ id }) => id,
      );
      for (const row of rows)
        await appendEvents(tx, row.tenant_id, `target-binding/${row.id}`, [bindingMisconfigured(row)]);
    });
  }
}

const MEANINGS: Record<ConfigurationFault, string> = {
  credential: 'The server refuses the credential of the binding.',
  model_missing: 'The server does not know the model of the binding.',
  redirect: 'The server redirects requests. Check `target.base_url` of the binding.',
};

/** `target_binding.misconfigured`: sent at most once an hour for each fault of a binding. */
function bindingMisconfigured({ id, slug, fault, attempts }: FaultyBinding & ReportedFault): NewEvent {
  return {
    type: 'target_binding.misconfigured',
    subject: `target-bindings/${id}`,
    actor: WORKER,
    data: { target_binding_id: id, slug, fault, attempts, message: MEANINGS[fault] },
  };
}
