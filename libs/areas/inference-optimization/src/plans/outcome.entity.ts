import type { AchievedValue, OutcomePhase, OutcomeResult, PlanKind, PredictedValueDto } from '@slipway/ports/plans';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An executed plan, with the outcome that is recorded next. */
@Entity({ name: 'autopilot_plan_executions' })
export class PlanExecutionEntity {
  @PrimaryColumn({ type: 'text' })
  planId: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  revisionId: string;

  @Column({ type: 'timestamptz', nullable: true })
  promotedAt: Date | null;

  @Column({ type: 'text', default: 'promotion' })
  phase: OutcomePhase | 'done';

  @Column({ type: 'timestamptz', default: () => 'now()' })
  dueAt: Date;

  @Column({ type: 'boolean', default: false })
  needsRevert: boolean;

  @Column({ type: 'text', nullable: true })
  revertPlanId: string | null;
}

/** One outcome of a plan. Rows are written and read by the statements in `outcome.query.ts`. */
@Entity({ name: 'autopilot_plan_outcomes' })
export class PlanOutcomeEntity {
  @PrimaryColumn({ type: 'text' })
  planId: string;

  @PrimaryColumn({ type: 'text' })
  phase: OutcomePhase;

  @PrimaryColumn({ type: 'text' })
  metric: string;

  @PrimaryColumn({ type: 'text' })
  stat: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  kind: PlanKind;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  at: Date;

  @Column({ type: 'float8', nullable: true })
  now: number | null;

  @Column({ type: 'jsonb', nullable: true })
  predicted: PredictedValueDto | null;

  @Column({ type: 'jsonb', nullable: true })
  achieved: AchievedValue | null;

  @Column({ type: 'boolean', nullable: true })
  within: boolean | null;

  @Column({ type: 'float8', nullable: true })
  logError: number | null;

  @Column({ type: 'text', nullable: true })
  result: OutcomeResult | null;

  @Column({ type: 'boolean' })
  hasMoved: boolean;

  @Column({ type: 'boolean', nullable: true })
  assumptionsHold: boolean | null;
}
