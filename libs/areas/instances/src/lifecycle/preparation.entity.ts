import type { RevisionSpec, StartFailure, StartProgress } from '@slipway/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

export type PreparationState = 'asked' | 'running' | 'ready' | 'failed';

@Entity({ name: 'preparations' })
export class PreparationEntity {
  @PrimaryColumn({ type: 'text' })
  operation_id: string;

  @PrimaryColumn({ type: 'text' })
  revision_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  target: string;

  @Column({ type: 'jsonb' })
  spec: RevisionSpec;

  @Column({ type: 'text', default: 'asked' })
  state: PreparationState;

  /** Increases with each request, so that the result for an earlier request does not overwrite it. */
  @Column({ type: 'int', default: 1 })
  attempt: number;

  @Column({ type: 'jsonb', nullable: true })
  progress: StartProgress | null;

  @Column({ type: 'jsonb', nullable: true })
  failure: StartFailure | null;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  asked_at: Date;
}
