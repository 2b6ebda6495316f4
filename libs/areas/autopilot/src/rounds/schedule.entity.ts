import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The newest event of each kind that the autopilot appended about a deployment. */
export type ReportedFindings = Record<string, { key: string; at: string } | undefined>;

@Entity({ name: 'autopilot_schedules' })
export class ScheduleEntity {
  @PrimaryColumn({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  deploymentName: string;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  nextRunAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  lastRunAt: Date | null;

  @Column({ type: 'jsonb', default: {} })
  told: ReportedFindings;
}
