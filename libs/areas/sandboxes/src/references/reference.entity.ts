import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ExternalProvider } from './reference.dto.js';

@Entity({ name: 'sandbox_references' })
export class ReferenceEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  sandbox_id: string;

  @Column({ type: 'text' })
  provider: ExternalProvider;

  @Column({ type: 'text' })
  base_url: string;

  @Column({ type: 'text' })
  external_id: string;

  /** Sealed. No read selects it: only a push reads it, in SQL. */
  @Column({ type: 'text', nullable: true, select: false })
  credential: string | null;

  @Column({ type: 'text', default: 'active' })
  state: 'active' | 'revoked';

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  revoked_at: string | null;

  @Column({ type: 'text', nullable: true })
  revoked_by: string | null;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;
}
