import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last complete back-up. Its command writes it without an entity, as everything else that it does. */
@Entity({ name: 'last_backup' })
export class LastBackupEntity {
  @PrimaryColumn({ type: 'boolean', default: true })
  is_only: boolean;

  @Column({ type: 'timestamptz' })
  taken_at: Date;
}
