import { Column, Entity, PrimaryColumn } from 'typeorm';
import { rfc3339, wholeNumber } from '@slipway/platform-database';

/** How far an event stream has been turned into deliveries of a webhook, and which sender has it. */
@Entity({ name: 'webhook_lanes' })
export class DeliveryQueueEntity {
  @PrimaryColumn({ type: 'text' })
  webhook_id: string;

  @PrimaryColumn({ type: 'text' })
  stream: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  sequence: number;

  @Column({ type: 'timestamptz', nullable: true })
  due_at: Date | null;

  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  lease_version: number;

  /** Rises when a pending delivery is skipped, which a sender may have read. */
  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  changes: number;
}

/** One event for one webhook. */
@Entity({ name: 'webhook_deliveries' })
export class DeliveryEntity {
  @PrimaryColumn({ type: 'text' })
  webhook_id: string;

  @PrimaryColumn({ type: 'text' })
  event_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  stream: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  sequence: number;

  @Column({ type: 'text' })
  event_type: string;

  @Column({ type: 'text', default: 'pending' })
  status: string;

  @Column({ type: 'int', default: 0 })
  attempts: number;

  @Column({ type: 'int', nullable: true })
  response_status: number | null;

  @Column({ type: 'text', nullable: true })
  error: string | null;

  @Column({ type: 'int', nullable: true })
  duration_ms: number | null;

  /** The CloudEvent of a test. Other events are read from their streams. */
  @Column({ type: 'text', nullable: true })
  body: string | null;

  @Column({ type: 'timestamptz', nullable: true, default: () => 'now()', transformer: rfc3339 })
  next_attempt_at: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  last_attempt_at: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  completed_at: string | null;
}
