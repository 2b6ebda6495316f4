import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'sandbox_files' })
export class FileEntity {
  @PrimaryColumn({ type: 'text' })
  sandbox_id: string;

  @PrimaryColumn({ type: 'text' })
  path: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  blob: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  size_bytes: number;

  @Column({ type: 'text' })
  sha256: string;

  @Column({ type: 'text' })
  mode: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  modified_at: string;

  @Column({ type: 'text', default: 'none' })
  sync: 'none' | 'pending' | 'synced' | 'failed';

  @Column({ type: 'text', nullable: true })
  sync_error: string | null;

  @Column({ type: 'text', nullable: true })
  sync_operation_id: string | null;
}
