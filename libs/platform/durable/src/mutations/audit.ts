import { actorText, systemActor, type Actor } from '@slipway/contracts';
import { digestOf, newId, prepared, type Tx } from '@slipway/platform-database';
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

const INSERT_AUDIT = prepared(
  'audit-insert',
  `insert into audit_log (id, tenant_id, actor, action, resource_type, resource_name, request_id, before_digest, after_digest)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/** Writes the audit row of a mutation in the mutation's own transaction. Actor and request id come from the request. */
export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const request = requestContext();
  const actor = entry.actor ?? request.principal?.actor ?? systemActor('slipway');
  await tx.query(INSERT_AUDIT, [
    newId('aud'),
    tx.tenant,
    actorText(actor),
    entry.action,
    entry.resourceType,
    entry.resourceName,
    request.requestId || null,
    digest(entry.before),
    digest(entry.after),
  ]);
}

function digest(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return digestOf(value);
}
