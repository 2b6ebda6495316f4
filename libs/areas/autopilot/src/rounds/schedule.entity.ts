import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The newest event of each kind that the autopilot appended about a deployment. */
export type ReportedFindings = Record<string, { key: string; at: string } | undefined>;

/** The result of a round: its plan, or why there is none. Field names are those of the API. */
export interface RoundDecision {
  plan_id?: string;
  because?: string;
  message: string;
  /** When the reason ends, if that is known. */
  until: string | null;
  at: string;
}

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

  /** Null before the first round. */
  @Column({ type: 'jsonb', nullable: true })
  decision: RoundDecision | null;
}
