import { Column, Entity, PrimaryColumn } from 'typeorm';
import { rfc3339, wholeNumber } from '@slipway/platform-database';

/** A receiver of a tenant's events. */
@Entity({ name: 'webhooks' })
export class WebhookEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  url: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'text', array: true })
  event_types: string[];

  @Column({ type: 'text', array: true })
  deployments: string[];

  @Column({ type: 'text', array: true })
  streams: string[];

  @Column({ type: 'text' })
  sealed_secret: string;

  @Column({ type: 'text', nullable: true })
  sealed_previous_secret: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  previous_secret_until: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  paused_until: string | null;

  /** Rises with each change of what a sender uses. */
  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  version: number;

  @Column({ type: 'text', default: 'active' })
  state: string;

  @Column({ type: 'text', nullable: true })
  disabled_reason: string | null;

  @Column({ type: 'text' })
  created_by: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  disabled_at: string | null;
}
