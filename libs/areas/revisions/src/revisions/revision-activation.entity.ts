import { wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'revision_activations' })
export class RevisionActivationEntity {
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS', transformer: wholeNumber })
  id: number;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'text' })
  revisionId: string;

  @Column({ type: 'text', nullable: true })
  operationId: string | null;

  @Column({ type: 'boolean', default: false })
  isLeftByRollback: boolean;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  activatedAt: Date;
}
