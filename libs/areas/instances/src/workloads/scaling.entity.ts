import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last report of an engine about the work that waits in it. */
@Entity({ name: 'engine_loads' })
export class EngineLoadEntity {
  @PrimaryColumn({ type: 'text' })
  instance_id: string;

  @Column({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'float8', nullable: true })
  waiting: number | null;

  @Column({ type: 'float8', nullable: true })
  kv_usage: number | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  observed_at: Date;
}

/** The scaler's memory of a workload between two decisions. */
@Entity({ name: 'workload_scalings' })
export class WorkloadScalingEntity {
  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'timestamptz', nullable: true })
  low_since: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  asleep_since: Date | null;

  @Column({ type: 'int', default: 0 })
  failures: number;

  @Column({ type: 'timestamptz', nullable: true })
  failed_at: Date | null;

  @Column({ type: 'text', nullable: true })
  failure: string | null;
}
