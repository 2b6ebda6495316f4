import type { Tx } from '@slipway/platform-database';
import { AuditLogEntity } from '@slipway/platform-durable/mutations';
import type { FindManyOptions } from 'typeorm';

export type AuditRow = AuditLogEntity;

/** A row before it is sealed: what a hash covers beside the one before it. */
export type AuditContent = Omit<AuditRow, 'sequence' | 'previous_hash' | 'hash' | 'key_id' | 'seal'>;

/** To the microsecond, as it is stored and hashed. A Date, and with it the entity, ends at milliseconds. */
const AT = `to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Rows of the log as they are hashed and shown. */
export async function auditRows(
  tx: Tx,
  options: Pick<FindManyOptions<AuditLogEntity>, 'where' | 'order' | 'take'>,
): Promise<AuditRow[]> {
  const { entities, raw } = await tx
    .repository(AuditLogEntity)
    .createQueryBuilder('a')
    .addSelect(AT, 'at')
    .setFindOptions(options)
    .getRawAndEntities<{ at: string }>();
  return entities.map((row, index) => ({ ...row, at: (raw[index] as { at: string }).at }));
}
