import { actorText, systemActor, type Actor } from '@slipway/contracts';
import { digestOf, newId, setwise, type Tx } from '@slipway/platform-database';
import { requestContext } from '@slipway/platform-http';

export interface AuditEntry {
  /** Verb of the field, such as `rollout.create` or `plan.approve`. */
  action: string;
  resourceType: string;
  resourceName: string;
  /** The resource before and after, of which only digests are kept. */
  before?: unknown;
  after?: unknown;
  /** Who did it, if no request tells (a worker, a recurring job). */
  actor?: Actor;
}

const INSERT = setwise(
  'audit-insert',
  {
    id: 'text',
    tenant_id: 'text',
    actor: 'text',
    action: 'text',
    resource_type: 'text',
    resource_name: 'text',
    request_id: 'text',
    before_digest: 'text',
    after_digest: 'text',
  },
  (
    given,
  ) => `insert into audit_log (id, tenant_id, actor, action, resource_type, resource_name, request_id, before_digest, after_digest)
   select id, tenant_id, actor, action, resource_type, resource_name, request_id, before_digest, after_digest from ${given}`,
);

/** Writes the audit row of a mutation in the mutation's own transaction. Actor and request id come from the request. */
export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const request = requestContext();
  const actor = entry.actor ?? request.principal?.actor ?? systemActor('slipway');
  await tx.each(INSERT, [
    {
      id: newId('aud'),
      tenant_id: tx.tenant,
      actor: actorText(actor),
      action: entry.action,
      resource_type: entry.resourceType,
      resource_name: entry.resourceName,
      request_id: request.requestId || null,
      before_digest: digest(entry.before),
      after_digest: digest(entry.after),
    },
  ]);
}

function digest(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return digestOf(value);
}
