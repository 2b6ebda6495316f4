import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'idempotency_keys' })
export class IdempotencyKeyEntity {
  @PrimaryColumn({ type: 'text' })
  tenant_id: string;

  @PrimaryColumn({ type: 'text' })
  method: string;

  @PrimaryColumn({ type: 'text' })
  path: string;

  @PrimaryColumn({ type: 'text' })
  key: string;

  @Column({ type: 'text' })
  fingerprint: string;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  claimed_until: string;

  @Column({ type: 'int', nullable: true })
  status: number | null;

  @Column({ type: 'jsonb', nullable: true })
  headers: Record<string, string> | null;

  @Column({ type: 'jsonb', nullable: true })
  answer: unknown;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;
}
