import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last head of a tenant's chain that was kept outside the database. */
@Entity({ name: 'audit_anchors' })
export class AuditAnchorEntity {
  @PrimaryColumn({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  sequence: number;

  @Column({ type: 'text', nullable: true })
  hash: string | null;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  due_at: string;
}
