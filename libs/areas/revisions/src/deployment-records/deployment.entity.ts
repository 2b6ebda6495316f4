import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ANY_MEDIA_URL, type Actor, type DeploymentState, type MediaUrls, type ScalingSpec } from '@slipway/contracts';
import type { Condition, Protection } from '@slipway/ports/deployment-records';

@Entity({ name: 'deployments' })
export class DeploymentEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  displayName: string | null;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'jsonb', default: {} })
  labels: Record<string, string>;

  @Column({ type: 'text', nullable: true })
  environment: string | null;

  @Column({ type: 'jsonb', nullable: true })
  defaultStrategy: Record<string, unknown> | null;

  @Column({ type: 'jsonb', nullable: true })
  defaultAnalysis: Record<string, unknown> | null;

  @Column({ type: 'int', default: 10 })
  revisionHistoryLimit: number;

  @Column({ type: 'jsonb', default: { deletion: false, rollouts: 'any' } })
  protection: Protection;

  @Column({ type: 'jsonb', nullable: true })
  scaling: Partial<ScalingSpec> | null;

  @Column({ type: 'int', default: 600 })
  drainSeconds: number;

  @Column({ type: 'jsonb', default: ANY_MEDIA_URL })
  mediaUrls: MediaUrls;

  @Column({ type: 'text', default: 'creating' })
  state: DeploymentState;

  @Column({ type: 'jsonb', default: [] })
  conditions: Condition[];

  @Column({ type: 'text', nullable: true })
  activeRevisionId: string | null;

  @Column({ type: 'text', nullable: true })
  candidateRevisionId: string | null;

  @Column({ type: 'text', nullable: true })
  previousRevisionId: string | null;

  @Column({ type: 'text', nullable: true })
  currentOperationId: string | null;

  @Column({ type: 'int', default: 1 })
  version: number;

  @Column({ type: 'jsonb' })
  createdBy: Actor;

  @Column({ type: 'jsonb', nullable: true })
  updatedBy: Actor | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  createdAt: Date;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  updatedAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  deletedAt: Date | null;
}
