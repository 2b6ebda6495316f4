import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { StoredRecord } from '../records/stored-record.js';

@Entity({ name: 'dataplane_service_records' })
export class DataplaneServiceRecordEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @PrimaryColumn({ type: 'int' })
  seconds: number;

  @PrimaryColumn({ type: 'timestamptz', transformer: rfc3339 })
  starts_at: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'int' })
  arrivals: number;

  @Column({ type: 'int' })
  refused: number;

  @Column({ type: 'jsonb' })
  record: StoredRecord;
}

@Entity({ name: 'dataplane_record_merges' })
export class DataplaneRecordMergeEntity {
  @PrimaryColumn({ type: 'int' })
  seconds: number;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  merged_until: string;

  @Column({ type: 'text', nullable: true })
  last_revision: string | null;
}

@Entity({ name: 'dataplane_engine_peaks' })
export class DataplaneEnginePeakEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @PrimaryColumn({ type: 'timestamptz', transformer: rfc3339 })
  starts_at: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'float8', nullable: true })
  kv_usage: number | null;

  @Column({ type: 'float8', nullable: true })
  waiting: number | null;
}
