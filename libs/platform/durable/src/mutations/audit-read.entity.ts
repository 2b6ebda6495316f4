import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Reads of one thing by one actor, of which the audit lists one row an hour. */
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
