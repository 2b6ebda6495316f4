import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Histogram } from '../statistics/histogram.js';
import type { Loads } from '../statistics/load.js';
import type { Callers, Histograms, Waits } from '../statistics/stats.query.js';

@Entity({ name: 'dataplane_request_stats' })
export class DataplaneRequestStatsEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @PrimaryColumn({ type: 'timestamptz', transformer: rfc3339 })
  window_start: string;

  @PrimaryColumn({ type: 'text' })
  gateway_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'int' })
  ok: number;

  @Column({ type: 'int' })
  client_error: number;

  @Column({ type: 'int', default: 0 })
  overloaded: number;

  @Column({ type: 'int' })
  server_error: number;

  @Column({ type: 'int' })
  connect_error: number;

  @Column({ type: 'int', default: 0 })
  abandoned: number;

  @Column({ type: 'int' })
  cancelled: number;

  @Column({ type: 'int' })
  retried: number;

  @Column({ type: 'int', default: 0 })
  overloaded_retried: number;

  @Column({ type: 'int' })
  streamed: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  tokens_in: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  tokens_out: number;

  @Column({ type: 'jsonb' })
  histograms: Histograms;

  @Column({ type: 'jsonb', nullable: true })
  loads: Loads | null;

  @Column({ type: 'jsonb', nullable: true })
  callers: Callers | null;

  @Column({ type: 'jsonb', nullable: true })
  waits: Waits | null;

  /** Failed attempts by what was wrong with the answer. */
  @Column({ type: 'jsonb', nullable: true })
  faults: Record<string, number> | null;

  /** Null in rows of gateways of an earlier release, as are the next five. */
  @Column({ type: 'int', nullable: true })
  arrivals: number | null;

  @Column({ type: 'int', nullable: true })
  session_arrivals: number | null;

  @Column({ type: 'int', nullable: true })
  refused: number | null;

  @Column({ type: 'jsonb', nullable: true })
  held: Histogram | null;

  @Column({ type: 'jsonb', nullable: true })
  tokens: { input: Histogram; output: Histogram } | null;

  @Column({ type: 'jsonb', nullable: true })
  starting: Loads | null;
}
