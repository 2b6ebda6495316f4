import { Column, Entity, PrimaryColumn } from 'typeorm';
import { wholeNumber } from './rows.js';

/** A table whose rows count in the quotas of their tenants. Migrations add it with `slipway_count_stored`. */
@Entity({ name: 'stored_tables' })
export class StoredTableEntity {
  @PrimaryColumn({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  quota: string | null;

  @Column({ type: 'boolean' })
  is_record: boolean;

  @Column({ type: 'text' })
  bytes_of_row: string;

  @Column({ type: 'timestamptz', nullable: true })
  counted_at: Date | null;
}

@Entity({ name: 'stored_totals' })
export class StoredTotalEntity {
  @PrimaryColumn({ type: 'text' })
  tenant_id: string;

  @PrimaryColumn({ type: 'text' })
  table_name: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  entries: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  bytes: number;
}

/** Only the triggers of the counted tables write it. */
@Entity({ name: 'stored_changes' })
export class StoredChangeEntity {
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS', transformer: wholeNumber })
  id: number;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  table_name: string;

  @Column({ type: 'bigint', transformer: wholeNumber })
  entries: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  bytes: number;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 0 })
  transaction_id: number;
}
