import type { RevisionSpec } from '@slipway/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { FailedStart } from './instance.entity.js';

@Entity({ name: 'workloads' })
export class WorkloadEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  deployment_id: string;

  @Column({ type: 'text' })
  revision_name: string;

  @Column({ type: 'text' })
  target: string;

  @Column({ type: 'int' })
  replicas: number;

  /** Instances in addition to `replicas`, while a restart replaces the others. */
  @Column({ type: 'int', default: 0 })
  spare: number;

  @Column({ type: 'jsonb' })
  spec: RevisionSpec;

  @Column({ type: 'boolean', default: true })
  is_active: boolean;

  @Column({ type: 'text', nullable: true })
  suspended_by: string | null;

  /** Its instances wait for no request that got no byte for a while. */
  @Column({ type: 'boolean', default: false })
  abandons_silent: boolean;

  @Column({ type: 'float8', nullable: true })
  suspended_drain_seconds: number | null;

  /** When an event last reported that the engines refuse requests, by fault. */
  @Column({ type: 'jsonb', default: {} })
  reported_faults: Record<string, string>;

  /** Until a start is ready. The failure of an instance ends sooner, as with a new attempt. */
  @Column({ type: 'jsonb', nullable: true })
  last_failed_start: (FailedStart & { instance_id: string }) | null;

  @Column({ type: 'timestamptz', nullable: true })
  last_failed_start_at: Date | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  activated_at: Date;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  changed_at: Date;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  created_at: Date;
}

/** A reason to run a workload. */
@Entity({ name: 'workload_holds' })
export class WorkloadRetentionEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @PrimaryColumn({ type: 'text' })
  holder: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'timestamptz', nullable: true })
  expires_at: Date | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  placed_at: Date;
}

/** An operation that is woken at the next change of a workload. */
@Entity({ name: 'workload_waiters' })
export class WorkloadWaiterEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @PrimaryColumn({ type: 'text' })
  operation_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  created_at: Date;
}
