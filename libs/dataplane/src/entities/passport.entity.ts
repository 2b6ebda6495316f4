import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RebindReason, SessionSource } from '../passports/passport.js';

@Entity({ name: 'dataplane_passports' })
export class DataplanePassportEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  deployment_id: string;

  @Column({ type: 'text' })
  deployment_name: string;

  @Column({ type: 'text' })
  key_hash: string;

  @Column({ type: 'text' })
  source: SessionSource;

  @Column({ type: 'text', nullable: true })
  subject: string | null;

  @Column({ type: 'text' })
  mode: 'none' | 'soft';

  @Column({ type: 'int' })
  ttl_seconds: number;

  @Column({ type: 'text', nullable: true })
  revision_id: string | null;

  @Column({ type: 'text', nullable: true })
  revision_name: string | null;

  @Column({ type: 'text', nullable: true })
  instance_id: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  bound_at: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  last_seen_at: string;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  expires_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  revoked_at: string | null;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 0 })
  requests: number;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 0 })
  hits: number;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 0 })
  misses: number;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 0 })
  rebinds: number;

  @Column({ type: 'text', nullable: true })
  last_rebind_reason: RebindReason | null;
}

/** Only the triggers of the migration write it. */
@Entity({ name: 'dataplane_passport_counts' })
export class DataplanePassportCountEntity {
  @PrimaryColumn({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  passports: number;

  @Column({ type: 'bigint', nullable: true, transformer: wholeNumber })
  max_passports: number | null;
}
