import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Reads of one resource by one actor. The audit log lists one row an hour for them. */
@Entity({ name: 'audit_reads' })
export class AuditReadEntity {
  @PrimaryColumn({ type: 'text' })
  tenantId: string;

  @PrimaryColumn({ type: 'text' })
  actor: string;

  @PrimaryColumn({ type: 'text' })
  action: string;

  @PrimaryColumn({ type: 'text' })
  resourceType: string;

  @PrimaryColumn({ type: 'text' })
  resourceName: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  unlisted: number;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  listedAt: string;
}
