import type { Actor, RevisionSpec, RevisionState } from '@slipway/contracts';
import { rfc3339 } from '@slipway/platform-database';
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
