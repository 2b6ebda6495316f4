import { Inject, Injectable, Logger } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { FIRST_AUDIT_HASH, type AuditChainLink } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { AuditLogEntity } from '@slipway/platform-durable/mutations';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { hashOf } from './audit-chain.js';
import { AuditKeys, sealOf } from './audit-keys.js';
import { AuditHeadEntity } from './audit-head.entity.js';
import { auditPage } from './audit-rows.js';
import { ENSURE_HEAD, LOCK_HEAD, SEAL } from './audit.query.js';

const BATCH = 500;
/** A tenant with more rows waits for the next run, so that it cannot delay the others. */
const MAX_BATCHES = 20;
/** Another worker holds a chain for moments. A session that holds it for longer keeps its rows open to changes. */
const HELD_LONG_MS = 60_000;

/**
 * Joins committed audit rows to their tenant's hash chain, about a second after their change. A mutation cannot do that
 * itself: it would have to lock the end of the chain until its commit, and all mutations of a tenant would run one by
 * one.
 */
@Injectable()
export class AuditSealer {
  private readonly logger = new Logger('audit');

  private readonly keys: AuditKeys;
  /** By tenant: how far this process has seen each chain. */
  private readonly seen = new Map<string, number>();
  /** By tenant: since when this process has found the chain held, by `performance.now()`. */
  private readonly heldSince = new Map<string, number>();

  constructor(@Inject(CONFIG) config: Pick<Config, 'keyRing'>) {
    this.keys = AuditKeys.of(config);
  }

  /** Seals each tenant in transactions of its own, because one broken chain must not stop the others. */
  @Recurring({ name: 'audit', everySeconds: 1 })
  async run(transact: Transact): Promise<void> {
    const tenants = await transact('system', unsealedTenants);
    const unsealed = new Set(tenants.map(({ tenant_id }) => tenant_id));
    // Another worker may have sealed the rows since.
    for (const tenantId of this.heldSince.keys()) if (!unsealed.has(tenantId)) this.heldSince.delete(tenantId);
    for (const { tenant_id } of tenants) {
      await this.sealAll(transact, tenant_id).catch((failure: Error) =>
        this.logger.error(`Could not seal the new audit rows of ${tenant_id}: ${failure.message}`),
      );
    }
  }

  private async sealAll(transact: Transact, tenantId: string): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const seen = this.seen.get(tenantId) ?? 0;
      const { hasMore, end } = await transact('system', (tx) => sealBatch(tx, tenantId, BATCH, this.keys, seen));
      this.reportIfHeld(tenantId, end === undefined);
      if (end !== undefined) this.seen.set(tenantId, end);
      if (!hasMore) return;
    }
  }

  /** Reports a chain once a minute while a session holds it. */
  private reportIfHeld(tenantId: string, isHeld: boolean): void {
    if (!isHeld) return void this.heldSince.delete(tenantId);
    const now = performance.now();
    const since = this.heldSince.get(tenantId) ?? now;
    this.heldSince.set(tenantId, since);
    if (now - since < HELD_LONG_MS) return;
    this.heldSince.set(tenantId, now);
    this.logger.error(
      `The new audit rows of ${tenantId} have not been sealed for a minute, because a session of Postgres holds the head of the chain. Until then they can be changed without notice: \`select pid, usename, query from pg_stat_activity where xact_start < now() - interval '1 minute'\` shows the session`,
    );
  }
}

function unsealedTenants(tx: Tx): Promise<{ tenant_id: string }[]> {
  return tx
    .repository(AuditLogEntity)
    .createQueryBuilder('a')
    .select('a.tenant_id', 'tenant_id')
    .distinct()
    .where({ sequence: IsNull() })
    .getRawMany();
}

/**
 * Seals up to `limit` rows of a tenant, as many as fit into a page, in a system transaction, in the order of their ids among the visible rows. A
 * transaction that commits later with an older id gets a later sequence. The chain shows the order of sealing, and `at`
 * shows the order of the changes.
 * @param seen how far the caller knows the chain: a worker with the key must not seal it again for an intruder who set
 * it back
 * @returns the number of sealed rows, 0 even if another worker holds the chain; whether more rows wait; and the end of
 * the chain, if this call could read it
 */
export async function sealBatch(
  tx: Tx,
  tenantId: string,
  limit: number,
  { current: key }: AuditKeys,
  seen = 0,
): Promise<{ sealed: number; hasMore: boolean; end?: number }> {
  await tx.query(ENSURE_HEAD, [tenantId, FIRST_AUDIT_HASH]);
  const head = await tx.one<AuditChainLink>(LOCK_HEAD, [tenantId]);
  if (!head) return { sealed: 0, hasMore: false };
  if (head.sequence < seen)
    throw new Error(`the head of the chain moved back from row ${seen} to row ${head.sequence}`);
  const { rows, hasMore } = await auditPage(tx, {
    where: { tenant_id: tenantId, sequence: IsNull() },
    order: { id: 'ASC' },
    limit,
  });
  if (rows.length === 0) return { sealed: 0, hasMore, end: head.sequence };
  const links: (AuditChainLink & { id: string; previousHash: string; seal: string })[] = [];
  let end = head;
  for (const row of rows) {
    const sequence = end.sequence + 1;
    const hash = hashOf(end.hash, row, sequence);
    const link = { id: row.id, sequence, previousHash: end.hash, hash, seal: sealOf(key, hash) };
    links.push(link);
    end = link;
  }
  await tx.query(SEAL, [
    tenantId,
    links.map((link) => link.id),
    links.map((link) => link.sequence),
    links.map((link) => link.previousHash),
    links.map((link) => link.hash),
    links.map((link) => link.seal),
    key.id,
  ]);
  await tx
    .repository(AuditHeadEntity)
    .update({ tenant_id: tenantId }, { sequence: end.sequence, hash: end.hash, sealed_at: () => 'now()' });
  return { sealed: rows.length, hasMore, end: end.sequence };
}
