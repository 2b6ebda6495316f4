import { Column, Entity, PrimaryColumn } from 'typeorm';
import { rfc3339, wholeNumber } from '@slipway/platform-database';

/** The end of a tenant's chain. */
@Entity({ name: 'audit_heads' })
export class AuditHeadEntity {
  @PrimaryColumn({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  sequence: number;

  @Column({ type: 'text' })
  hash: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  sealed_at: string;
}
