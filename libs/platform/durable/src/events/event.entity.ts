import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'event_streams' })
export class EventStreamEntity {
  @PrimaryColumn({ type: 'text' })
  stream: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  last_sequence: number;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 1 })
  first_sequence: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  oldest_at: string;
}

@Entity({ name: 'events' })
export class EventEntity {
  @PrimaryColumn({ type: 'text' })
  stream: string;

  @PrimaryColumn({ type: 'bigint', transformer: wholeNumber })
  sequence: number;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  type: string;

  @Column({ type: 'text' })
  subject: string;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()', transformer: rfc3339 })
  time: string;

  @Column({ type: 'text' })
  actor: string;

  @Column({ type: 'text', nullable: true })
  operation_id: string | null;

  @Column({ type: 'text', nullable: true })
  revision_id: string | null;

  @Column({ type: 'jsonb' })
  data: Record<string, unknown>;
}
