export { BatchFailed, Batcher, Database } from './database.js';
export { DatabaseModule } from './database.module.js';
export {
  Tx,
  type Reads,
  type TxScope,
  type TxSettings,
  KEYS,
  listOf,
  listValues,
  locking,
  lookup,
  prepared,
  type Columns,
  type Statement,
  LOCK_ORDER,
  type Lock,
} from './tx.js';
export {
  PAGE_BYTES,
  findPage,
  rowPage,
  withinBytes,
  type LargeColumns,
  type PageOptions,
  type RowPage,
} from './bounded-rows.js';
export {
  rfc3339,
  wholeNumber,
  newestFirst,
  timesBetween,
  isBetween,
  containing,
  newId,
  canonicalJson,
  digestOf,
} from './rows.js';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded/index.js';
export { openSecret, sealSecret } from './secret-box.js';
export { keyProblems, type SealedColumn } from './sealed-column.js';
export { type KeyUse, rotateSecretKey } from './rotate-secret-key.js';
export { readManifest, restoreBackup, restoreFiles, writeBackup, type KeptFiles } from './backup/folder.js';
export { LAST_BACKUP_AT, LastBackupEntity } from './backup/last-backup.entity.js';
export { RestoreError } from './backup/load.js';
export { StoredChangeEntity, StoredTableEntity, StoredTotalEntity } from './stored-counts.entity.js';
export { migrate, requireFit } from './migrate.js';
export { schemaProblem, type Migration, type SchemaCheck } from './schema.js';
export { postgresFault, reachPostgres, type ReachPostgresOptions } from './reach.js';
import { GatewayRole1700000000002 } from './migrations/1700000000002-gateway-role.js';
import { Refuse1700000000005 } from './migrations/1700000000005-refuse.js';
import { Roles1700000000000 } from './migrations/1700000000000-roles.js';
import { TenantUnseen1700000000004 } from './migrations/1700000000004-tenant-unseen.js';
import { StoredCounts1700000000006 } from './migrations/1700000000006-stored-counts.js';
import { LastBackup1700000000007 } from './migrations/1700000000007-last-backup.js';
import { Timestamps1700000000001 } from './migrations/1700000000001-timestamps.js';
import { TimestampsInlined1700000000003 } from './migrations/1700000000003-timestamps-inlined.js';

/** The migrations of this library; every platform library and area exports its own list under the same name. */
export const migrations = [
  Roles1700000000000,
  Timestamps1700000000001,
  GatewayRole1700000000002,
  TimestampsInlined1700000000003,
  TenantUnseen1700000000004,
  Refuse1700000000005,
  StoredCounts1700000000006,
  LastBackup1700000000007,
];
