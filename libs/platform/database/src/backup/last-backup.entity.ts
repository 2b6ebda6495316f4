import { Column, Entity, PrimaryColumn } from 'typeorm';

/** SQL: the Unix time of the last complete back-up; null if there is none. */
export const LAST_BACKUP_AT = '(select extract(epoch from taken_at)::float8 from last_backup)';

/** The last complete back-up. Its command writes it without an entity, as everything else that it does. */
@Entity({ name: 'last_backup' })
export class LastBackupEntity {
  @PrimaryColumn({ type: 'boolean', default: true })
  is_only: boolean;

  @Column({ type: 'timestamptz' })
  taken_at: Date;
}
