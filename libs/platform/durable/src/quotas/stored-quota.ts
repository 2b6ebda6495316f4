import { QUOTAS, quotasOf, type QuotaConfig, type QuotaName } from '@slipway/platform-config';
import { StoredTableEntity, type Database, type Tx } from '@slipway/platform-database';
import { inBatches, Recurring, type Transact } from '../scheduling/index.js';
import { quotaExceeded } from './quota.errors.js';
import {
  ADD_UP_STORED,
  FIND_UNCOUNTED,
  LOCK_STORED,
  READ_STORED,
  RECOUNT_STORED,
  type StoredUse,
} from './stored.query.js';

/**
 * Rows that Slipway writes about requests may exceed `stored_bytes` by this factor. Deletions, rollbacks, revocations
 * and approvals write nothing else, so they are possible when the quota is full.
 */
const RECORDS_FACTOR = 1.25;
/**
 * A transaction takes no lock if the quota has capacity for this many like it, because fewer run at the same time.
 * Transactions closer to the limit wait for each other.
 */
const UNLOCKED_UP_TO = 1_000;
/**
 * Bytes must also leave at least this much: more than concurrent transactions of any size can add. A small one must not rely on
 * capacity that a large one is about to use, because the large one does not see it before its commit.
 */
const UNLOCKED_BYTES_LEFT = 64 * 1024 * 1024;
/** More changes than this make the check slow, for example if no worker runs. The process then adds them up itself. */
const MOST_PENDING = 2_000;
const ADDED_UP_AT_ONCE = 10_000;

/** Keeps each tenant within the quotas of what it stores. The triggers of `slipway_count_stored` count. */
export class StoredQuota {
  private readonly busy = new Set<string>();

  constructor(
    private readonly config: QuotaConfig,
    private readonly database: Database,
  ) {}

  /**
   * Checks the quotas of everything that the transaction has added. Call it after the last write: until the commit it
   * may hold a lock that other mutations of the tenant wait for.
   * @throws quota_exceeded (429)
   */
  async assertWithin(tx: Tx, tenantName: string): Promise<void> {
    const tenantId = tx.tenant;
    const seen = await tx.query<StoredUse>(READ_STORED, [tenantId]);
    if (!seen.some(({ ownEntries, ownBytes }) => ownEntries > 0 || ownBytes > 0)) return;
    const limits = quotasOf(this.config, tenantName);
    if (isNear(seen, limits)) {
      // The second look sees what the transactions committed that had the lock before.
      const [, used] = await Promise.all([
        tx.query(LOCK_STORED, [tenantId]),
        tx.query<StoredUse>(READ_STORED, [tenantId]),
      ]);
      refuseBeyond(used, limits);
    }
    if ((seen[0] as StoredUse).pending > MOST_PENDING) tx.afterCommit(() => void this.addUp(tenantId));
  }

  /** Never rejects: a worker adds up what remains. */
  private async addUp(tenantId: string): Promise<void> {
    if (this.busy.has(tenantId)) return;
    this.busy.add(tenantId);
    await this.database
      .tx('system', (tx) => tx.query(ADD_UP_STORED, [ADDED_UP_AT_ONCE, tenantId]))
      .catch(() => undefined);
    this.busy.delete(tenantId);
  }
}

type Limits = ReturnType<typeof quotasOf>;

function isNear(used: readonly StoredUse[], limits: Limits): boolean {
  const { grown, total } = bytesOf(used);
  const unlockedLeft = Math.max(UNLOCKED_BYTES_LEFT, UNLOCKED_UP_TO * grown);
  if (grown > 0 && limits.stored_bytes - total < unlockedLeft) return true;
  return used.some(
    ({ quota, entries, ownEntries }) =>
      isQuota(quota) && ownEntries > 0 && limits[quota] - entries < UNLOCKED_UP_TO * ownEntries,
  );
}

/** @throws quota_exceeded (429) */
function refuseBeyond(used: readonly StoredUse[], limits: Limits): void {
  for (const { quota, entries, ownEntries } of used) {
    if (!isQuota(quota) || ownEntries <= 0 || entries <= limits[quota]) continue;
    throw quotaExceeded(quota, limits[quota], { used: entries - ownEntries, adding: ownEntries });
  }
  const { grown, resources, total } = bytesOf(used);
  const limit = limits.stored_bytes;
  const isBeyond = resources > 0 ? total > limit : grown > 0 && total > limit * RECORDS_FACTOR;
  if (isBeyond) throw quotaExceeded('stored_bytes', limit, { used: total - grown, adding: grown });
}

/** Returns the bytes that the transaction added, in all tables and in those that are no records, and the total. */
function bytesOf(used: readonly StoredUse[]): { grown: number; resources: number; total: number } {
  let grown = 0;
  let resources = 0;
  for (const { isRecord, ownBytes } of used) {
    grown += ownBytes;
    if (!isRecord) resources += ownBytes;
  }
  return { grown, resources, total: used[0]?.totalBytes ?? 0 };
}

/** A newer release may have added a quota to the schema that this one does not know. */
function isQuota(name: string | null): name is QuotaName {
  return name !== null && Object.hasOwn(QUOTAS, name);
}

/** Adds changes up, and counts the rows that are older than the triggers. */
export class StoredCounts {
  @Recurring({ name: 'stored-counts', everySeconds: 2, isRepair: true })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    await inBatches(async (rows) => {
      const added = await transact('system', (tx) => tx.one<{ count: number }>(ADD_UP_STORED, [rows, null]));
      return added?.count === rows;
    }, stopping);
    while (!stopping?.aborted && (await transact('system', countOne)));
  }
}

/** Returns whether there was a table to count. */
async function countOne(tx: Tx): Promise<boolean> {
  const table = await tx.one<{ name: string }>(FIND_UNCOUNTED);
  if (!table) return false;
  await tx.query(RECOUNT_STORED, [table.name]);
  await tx.repository(StoredTableEntity).update({ name: table.name }, { counted_at: () => 'now()' });
  return true;
}
