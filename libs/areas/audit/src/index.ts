import { auditVerify } from './audit-verify.js';
import { AuditHeads1700000001300 } from './migrations/1700000001300-audit-heads.js';
import { AuditAppendOnly1700000001301 } from './migrations/1700000001301-audit-append-only.js';
import { AuditLists1700000001302 } from './migrations/1700000001302-audit-lists.js';
import { AuditSeals1700000001303 } from './migrations/1700000001303-audit-seals.js';
import { AuditAnchors1700000001304 } from './migrations/1700000001304-audit-anchors.js';

export { AuditModule } from './audit.module.js';
export const migrations = [
  AuditHeads1700000001300,
  AuditAppendOnly1700000001301,
  AuditLists1700000001302,
  AuditSeals1700000001303,
  AuditAnchors1700000001304,
];
export const commands = { 'audit-verify': auditVerify };
