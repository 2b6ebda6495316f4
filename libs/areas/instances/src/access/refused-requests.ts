import { WORKER } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { CONFIGURATION_FAULTS, recentFaults, type ConfigurationFault } from '@slipway/dataplane';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { deploymentStream } from '@slipway/ports/deployment-records';
import { deploymentSubject } from '../workloads/deployment-subject.js';
import { CLAIM_FAULTS, type FaultyWorkload } from './refused-requests.query.js';

const EVERY_SECONDS = 10;
/** A gateway that could not reach Postgres writes its windows late. */
const LOOK_BACK_SECONDS = 120;
/** Events of one run. The rest follow ten seconds later. */
const AT_ONCE = 200;

/**
 * Reports engines that refuse the requests of the gateways because of the operator's configuration. Clients get an error
 * that does not name the reason, so only this event and the gateway's log show it.
 */
@Injectable()
export class RefusedRequests {
  @Recurring({ name: 'refused-requests', everySeconds: EVERY_SECONDS })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      const found = await recentFaults(tx, { seconds: LOOK_BACK_SECONDS, faults: CONFIGURATION_FAULTS });
      if (found.length === 0) return;
      const attempts = new Map(found.map((one) => [`${one.revisionId} ${one.fault}`, one.attempts]));
      const rows = await tx.query<FaultyWorkload>(CLAIM_FAULTS, [
        found.map(({ revisionId }) => revisionId),
        found.map(({ fault }) => fault),
        AT_ONCE,
      ]);
      for (const row of rows) {
        const event = revisionMisconfigured(row, attempts.get(`${row.revision_id} ${row.fault}`) ?? 0);
        await appendEvents(tx, row.tenant_id, deploymentStream(row.deployment_id), [event]);
      }
    });
  }
}

const MEANINGS: Record<ConfigurationFault, string> = {
  credential: 'The model server refuses the credential. Check `endpoint.credential_ref` of the deployment.',
  model_missing: 'The model server does not know the model. Check `model.id` of the deployment.',
  redirect: 'The model server redirects requests. Check `endpoint.base_url` of the deployment.',
};

/** `revision.misconfigured`: its engines refuse the requests of the gateways. Sent at most once an hour for each fault. */
function revisionMisconfigured(row: FaultyWorkload, attempts: number): NewEvent {
  return {
    type: 'revision.misconfigured',
    subject: deploymentSubject(row.revision_name),
    actor: WORKER,
    revisionId: row.revision_id,
    data: {
      revision: row.revision_name,
      fault: row.fault,
      attempts,
      message: MEANINGS[row.fault as ConfigurationFault],
    },
  };
}
