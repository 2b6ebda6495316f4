import type { LogLine, LogOptions } from '@slipway/target-driver';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The requested output. A reader ends it by missing signs of life, not by a signal. */
export type LogQuery = Omit<LogOptions, 'signal'>;

@Entity({ name: 'log_readings' })
export class LogReadingEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  target: string;

  @Column({ type: 'text' })
  instance_id: string;

  @Column({ type: 'jsonb' })
  options: LogQuery;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  asked_at: Date;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  reader_seen_at: Date;

  @Column({ type: 'timestamptz', nullable: true })
  served_at: Date | null;
}

@Entity({ name: 'log_chunks' })
export class LogChunkEntity {
  @PrimaryColumn({ type: 'text' })
  reading_id: string;

  @PrimaryColumn({ type: 'int' })
  sequence: number;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'jsonb' })
  lines: LogLine[];

  @Column({ type: 'boolean', default: false })
  is_last: boolean;

  @Column({ type: 'text', nullable: true })
  problem: string | null;
}
