import { findPage, type PageOptions, type RowPage, type Tx } from '@slipway/platform-database';
import { AuditLogEntity } from '@slipway/platform-durable/mutations';
import type { FindManyOptions } from 'typeorm';

export type AuditRow = AuditLogEntity;

/** To the microsecond, as it is stored and hashed. A Date, and with it the entity, only has milliseconds. */
const AT = `to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * Reads rows of the log as they are hashed and shown, as many as fit into a page. All readers of the log use it, because
 * the size of a row is that of the change.
 */
export function auditPage(tx: Tx, options: PageOptions<AuditLogEntity>): Promise<RowPage<AuditRow>> {
  return findPage(tx, AuditLogEntity, options, (chosen) => auditRows(tx, chosen));
}

async function auditRows(tx: Tx, options: FindManyOptions<AuditLogEntity>): Promise<AuditRow[]> {
  const { entities, raw } = await tx
    .repository(AuditLogEntity)
    .createQueryBuilder('a')
    .addSelect(AT, 'at')
    .setFindOptions(options)
    .getRawAndEntities<{ at: string }>();
  return entities.map((row, index) => ({ ...row, at: (raw[index] as { at: string }).at }));
}

export type ShownAuditRow = Omit<AuditRow, 'key_id' | 'seal' | 'reads'> & { reads?: number };

/**
 * Returns a row as the API shows it and as its hash covers it: without the fields that only the owner of the key can
 * check. A column that older rows lack, such as `reads`, must be absent for them, because their hashes do not cover it.
 */
export function shownAuditRow({ key_id: _keyId, seal: _seal, reads, ...row }: AuditRow): ShownAuditRow {
  return { ...row, ...(reads !== null && { reads }) };
}
