import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'revision_pins' })
export class RevisionPinEntity {
  @PrimaryColumn({ type: 'text' })
  revisionId: string;

  @PrimaryColumn({ type: 'text' })
  holder: string;

  @Column({ type: 'text' })
  tenantId: string;
}
