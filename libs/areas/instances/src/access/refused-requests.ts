import { WORKER } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { claimFaults, type ConfigurationFault, type ReportedFault } from '@slipway/dataplane';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { deploymentStream } from '@slipway/ports/deployment-records';
import { deploymentSubject } from '../workloads/deployment-subject.js';
import { CLAIM_FAULTS, type FaultyWorkload } from './refused-requests.query.js';

const EVERY_SECONDS = 10;

/**
 * Reports engines that refuse the requests of the gateways because of the operator's configuration. Clients get an error
 * that does not name the reason, so only this event and the gateway's log show it.
 */
@Injectable()
export class RefusedRequests {
  @Recurring({ name: 'refused-requests', everySeconds: EVERY_SECONDS })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      const rows = await claimFaults(
        tx,
        (values) => tx.query<FaultyWorkload>(CLAIM_FAULTS, values),
        ({ revision_id }) => revision_id,
      );
      for (const row of rows)
        await appendEvents(tx, row.tenant_id, deploymentStream(row.deployment_id), [revisionMisconfigured(row)]);
    });
  }
}

const MEANINGS: Record<ConfigurationFault, string> = {
  credential: 'The model server refuses the credential. Check `endpoint.credential_ref` of the deployment.',
  model_missing: 'The model server does not know the model. Check `model.id` of the deployment.',
  redirect: 'The model server redirects requests. Check `endpoint.base_url` of the deployment.',
};

/** `revision.misconfigured`: its engines refuse the requests of the gateways. Sent at most once an hour for each fault. */
function revisionMisconfigured(row: FaultyWorkload & ReportedFault): NewEvent {
  return {
    type: 'revision.misconfigured',
    subject: deploymentSubject(row.revision_name),
    actor: WORKER,
    revisionId: row.revision_id,
    data: { revision: row.revision_name, fault: row.fault, attempts: row.attempts, message: MEANINGS[row.fault] },
  };
}
