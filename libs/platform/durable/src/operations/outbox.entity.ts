import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'outbox' })
export class OutboxEntity {
  @PrimaryColumn({ type: 'bigint', transformer: wholeNumber, generated: 'identity', generatedIdentity: 'ALWAYS' })
  id: number;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  operation_id: string;

  @Column({ type: 'int' })
  dispatch: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  not_before: string;
}
