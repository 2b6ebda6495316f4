import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'installation' })
export class InstallationEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'gen_random_uuid()' })
  id: string;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  created_at: Date;
}
