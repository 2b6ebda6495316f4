import type { Actor, Owner } from '@slipway/contracts';
import { rfc3339, wholeNumber } from '@slipway/platform-database';
import type { PlanDecision, PlanContent } from '@slipway/ports/plans';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The immutable part of a plan. Its state follows from its decisions and the clock (`plan.query.ts`). */
@Entity({ name: 'autopilot_plans' })
export class PlanEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  deploymentName: string;

  @Column({ type: 'text' })
  baseRevisionId: string;

  @Column({ type: 'text' })
  specDigest: string;

  @Column({ type: 'jsonb' })
  content: PlanContent;

  @Column({ type: 'text' })
  contentDigest: string;

  @Column({ type: 'int' })
  approvalsRequired: number;

  @Column({ type: 'boolean' })
  preventSelfApproval: boolean;

  @Column({ type: 'boolean', default: false })
  requireHostedIdentity: boolean;

  @Column({ type: 'text', nullable: true })
  ideaKey: string | null;

  @Column({ type: 'jsonb' })
  createdBy: Actor;

  @Column({ type: 'jsonb', nullable: true })
  creatorOwner: Owner | null;

  @Column({ type: 'jsonb', default: [] })
  creatorMinters: Owner[];

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  createdAt: string;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  expiresAt: string;
}

@Entity({ name: 'autopilot_plan_decisions' })
export class PlanDecisionEntity {
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS', transformer: wholeNumber })
  id: number;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  planId: string;

  @Column({ type: 'text' })
  decision: PlanDecision['decision'];

  @Column({ type: 'jsonb' })
  actor: Actor;

  @Column({ type: 'jsonb', nullable: true })
  owner: Owner | null;

  @Column({ type: 'text', nullable: true })
  comment: string | null;

  @Column({ type: 'text' })
  digest: string;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()', transformer: rfc3339 })
  at: string;
}
