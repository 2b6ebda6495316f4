import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { Schedule, type RecurringWork, type Transact } from '@slipway/platform-scheduling';
import { GENESIS, hashOf, type Link } from './audit-chain.js';
import {
  ENSURE_HEAD,
  LOCK_HEAD,
  MOVE_HEAD,
  NEXT_UNSEALED,
  SEAL,
  UNSEALED_TENANTS,
  type AuditContent,
} from './audit.query.js';

const BATCH = 500;
/** A tenant with more waits for the next run, so that it cannot hold the others up. */
const MAX_BATCHES = 20;

/**
 * Joins committed audit rows to their tenant's hash chain, about a second after their change. A mutation cannot do that by
 * itself: it would have to hold the end of the chain until its commit, and so make all mutations of a tenant take turns.
 */
@Injectable()
export class AuditSealer implements RecurringWork, OnModuleInit {
  readonly name = 'audit';
  readonly everySeconds = 1;
  private readonly logger = new Logger('audit');

  constructor(private readonly schedule: Schedule) {}

  onModuleInit(): void {
    this.schedule.register(this);
  }

  /** Every tenant in transactions of its own: a chain that somebody has broken must not stop the others. */
  async run(transact: Transact): Promise<void> {
    const tenants = await transact('system', (tx) => tx.query<{ tenant_id: string }>(UNSEALED_TENANTS));
    for (const { tenant_id } of tenants) {
      await this.sealAll(transact, tenant_id).catch((failure: Error) =>
        this.logger.error(`the audit chain of ${tenant_id} cannot be continued: ${failure.message}`),
      );
    }
  }

  private async sealAll(transact: Transact, tenantId: string): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const sealed = await transact('system', (tx) => sealBatch(tx, tenantId, BATCH));
      if (sealed < BATCH) return;
    }
  }
}

/** Seals up to `limit` rows of a tenant in a system transaction. Returns how many; 0 even if another worker is at it. */
export async function sealBatch(tx: Tx, tenantId: string, limit: number): Promise<number> {
  await tx.query(ENSURE_HEAD, [tenantId, GENESIS]);
  const head = await tx.one<Link>(LOCK_HEAD, [tenantId]);
  if (!head) return 0;
  const rows = await tx.query<AuditContent>(NEXT_UNSEALED, [tenantId, limit]);
  if (rows.length === 0) return 0;
  const links: (Link & { id: string; previousHash: string })[] = [];
  let end = head;
  for (const row of rows) {
    const sequence = end.sequence + 1;
    const link = { id: row.id, sequence, previousHash: end.hash, hash: hashOf(end.hash, row, sequence) };
    links.push(link);
    end = link;
  }
  await tx.query(SEAL, [
    tenantId,
    links.map((link) => link.id),
    links.map((link) => link.sequence),
    links.map((link) => link.previousHash),
    links.map((link) => link.hash),
  ]);
  await tx.query(MOVE_HEAD, [tenantId, end.sequence, end.hash]);
  return rows.length;
}
