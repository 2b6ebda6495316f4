import { AuditLog1700000000024 } from './migrations/1700000000024-audit-log.js';
import { Idempotency1700000000023 } from './migrations/1700000000023-idempotency.js';

export { appendAudit, type AuditEntry } from './audit.js';
export { AuditLogEntity } from './audit-log.entity.js';
export { HeldKey, IdempotentMutation, StoredAnswer } from './idempotency.js';
export { IdempotencyKeyEntity } from './idempotency-key.entity.js';
export { MutationsModule } from './mutations.module.js';

export const migrations = [Idempotency1700000000023, AuditLog1700000000024];
