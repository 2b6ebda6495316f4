import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'event_subscriptions' })
export class EventSubscriptionEntity {
  @PrimaryColumn({ type: 'text' })
  type: string;

  @PrimaryColumn({ type: 'text' })
  subscription: string;
}

@Entity({ name: 'event_inbox' })
export class EventInboxEntity {
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS', transformer: wholeNumber })
  id: number;

  @Column({ type: 'text' })
  subscription: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  stream: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  sequence: number;

  @Column({ type: 'int', default: 0 })
  attempts: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  due_at: string;

  @Column({ type: 'text', nullable: true })
  trouble: string | null;
}
