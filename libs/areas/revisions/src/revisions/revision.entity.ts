import type { Actor, RevisionSpec, RevisionState } from '@slipway/contracts';
import { rfc3339, wholeNumber } from '@slipway/platform-database';
import type { NewRevision } from '@slipway/ports/revisions';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'revisions' })
export class RevisionEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'text' })
  deploymentId: string;

  @Column({ type: 'int' })
  number: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', default: 'pending' })
  state: RevisionState;

  @Column({ type: 'jsonb' })
  spec: RevisionSpec;

  @Column({ type: 'text' })
  specDigest: string;

  @Column({ type: 'jsonb' })
  source: NewRevision['source'];

  @Column({ type: 'text', nullable: true })
  changeRef: string | null;

  @Column({ type: 'jsonb' })
  createdBy: Actor;

  @Column({ type: 'text', default: '' })
  message: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  createdAt: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  readyAt: string | null;
}

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

@Entity({ name: 'revision_pins' })
export class RevisionPinEntity {
  @PrimaryColumn({ type: 'text' })
  revisionId: string;

  @PrimaryColumn({ type: 'text' })
  holder: string;

  @Column({ type: 'text' })
  tenantId: string;
}
