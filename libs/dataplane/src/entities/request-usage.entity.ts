import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'dataplane_request_usage' })
export class DataplaneRequestUsageEntity {
  @PrimaryColumn({ type: 'text' })
  gateway_id: string;

  @PrimaryColumn({ type: 'timestamptz', transformer: rfc3339 })
  window_start: string;

  @PrimaryColumn({ type: 'int' })
  row_number: number;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text', nullable: true })
  token_id: string | null;

  @Column({ type: 'text', nullable: true })
  owner_type: string | null;

  @Column({ type: 'text', nullable: true })
  owner_id: string | null;

  @Column({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text', nullable: true })
  instance_id: string | null;

  @Column({ type: 'text', nullable: true })
  slug: string | null;

  @Column({ type: 'int' })
  ok: number;

  @Column({ type: 'int' })
  client_error: number;

  @Column({ type: 'int', default: 0 })
  overloaded: number;

  @Column({ type: 'int' })
  server_error: number;

  @Column({ type: 'int', default: 0 })
  abandoned: number;

  @Column({ type: 'int' })
  cancelled: number;

  @Column({ type: 'int' })
  upstream_faults: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  tokens_in: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  tokens_out: number;

  @Column({ type: 'double precision' })
  duration_ms: number;

  @Column({ type: 'int' })
  attempts: number;

  @Column({ type: 'double precision' })
  mean_in_flight: number;
}
