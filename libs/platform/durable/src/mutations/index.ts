import { AuditLog1700000000024 } from './migrations/1700000000024-audit-log.js';
import { AuditReads1700000000029 } from './migrations/1700000000029-audit-reads.js';
import { Idempotency1700000000023 } from './migrations/1700000000023-idempotency.js';
import { StoredKeys1700000000039 } from './migrations/1700000000039-stored-keys.js';

export { appendAudit, type AuditEntry, Mutations, type MutationRequest } from './mutations.js';
export { ClaimedKey, forgetKeys, StoredAnswer } from './idempotency-keys.js';
export { AuditReadEntity } from './audit-read.entity.js';
export { AuditLogEntity } from './audit-log.entity.js';
export { IdempotencyKeyEntity } from './idempotency-key.entity.js';
export { KEY_RETENTION_DAYS } from './key-retention.js';
export { MutationsModule } from './mutations.module.js';
export { ReadAudit, type AuditedRead } from './read-audit.js';

export const migrations = [
  Idempotency1700000000023,
  AuditLog1700000000024,
  AuditReads1700000000029,
  StoredKeys1700000000039,
];
