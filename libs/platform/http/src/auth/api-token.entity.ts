import type { Owner } from '@slipway/contracts';
import { rfc3339 } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'api_tokens' })
export class ApiTokenEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', array: true })
  scopes: string[];

  @Column({ type: 'bytea' })
  secret_sha256: Buffer;

  @Column({ type: 'text' })
  created_by: string;

  @Column({ type: 'text' })
  owner_type: Owner['type'];

  @Column({ type: 'text' })
  owner_id: string;

  @Column({ type: 'jsonb' })
  minters: Owner[];

  @Column({ type: 'boolean', default: false })
  counts_for_owner: boolean;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', transformer: rfc3339 })
  expires_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  last_used_at: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  revoked_at: string | null;

  @Column({ type: 'text', nullable: true })
  revoked_by: string | null;

  @Column({ type: 'text', nullable: true })
  replaced_by: string | null;
}
