import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'audit_log' })
export class AuditLogEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()', transformer: rfc3339 })
  at: string;

  @Column({ type: 'text' })
  actor: string;

  @Column({ type: 'text' })
  action: string;

  @Column({ type: 'text' })
  resource_type: string;

  @Column({ type: 'text' })
  resource_name: string;

  @Column({ type: 'text', nullable: true })
  request_id: string | null;

  @Column({ type: 'text', nullable: true })
  before_digest: string | null;

  @Column({ type: 'text', nullable: true })
  after_digest: string | null;

  /** How many reads the row counts; null for a mutation. */
  @Column({ type: 'bigint', nullable: true, transformer: wholeNumber })
  reads: number | null;

  @Column({ type: 'bigint', nullable: true, transformer: wholeNumber })
  sequence: number | null;

  @Column({ type: 'text', nullable: true })
  previous_hash: string | null;

  @Column({ type: 'text', nullable: true })
  hash: string | null;

  @Column({ type: 'text', nullable: true })
  key_id: string | null;

  @Column({ type: 'text', nullable: true })
  seal: string | null;
}
