import type { Tx } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-durable/mutations';
import type { Principal } from '@slipway/platform-http';
import type { Deployment } from '@slipway/ports/deployment-records';
import { UNPROTECTED } from './deployment-settings.dto.js';
import { assertMayLower } from './protection.errors.js';

/**
 * Checks and records that a deletion ends the protection from rollouts without a plan. Otherwise an operator could
 * delete the deployment and create it again, without the protection that only an admin may lower.
 * `protection.deletion` needs no rule here, because it forbids the deletion to everyone.
 * @param principal the caller; undefined outside of a request, which may remove nothing
 * @throws scope_insufficient (403)
 */
export async function removeProtection(
  tx: Tx,
  { name, protection }: Pick<Deployment, 'name' | 'protection'>,
  principal: Pick<Principal, 'scopes'> | undefined,
): Promise<void> {
  if (protection.rollouts === UNPROTECTED.rollouts) return;
  assertMayLower(
    principal,
    `Deleting deployment ${name} requires the scope admin, because it removes protection.rollouts ${protection.rollouts}.`,
  );
  await appendAudit(tx, {
    action: 'deployment.unprotect',
    resourceType: 'deployment',
    resourceName: name,
    before: { protection },
    after: { protection: UNPROTECTED },
  });
}
