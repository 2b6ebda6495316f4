import { wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'sandbox_stray_blobs' })
export class StrayEntity {
  @PrimaryColumn({ type: 'text' })
  blob: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  sandbox_id: string;

  @Column({ type: 'timestamptz' })
  delete_after: Date;

  @Column({ type: 'boolean', default: false })
  is_doomed: boolean;

  @Column({ type: 'boolean', default: false })
  is_upload: boolean;

  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  reserved_bytes: number;
}
