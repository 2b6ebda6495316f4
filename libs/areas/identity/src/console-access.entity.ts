import { rfc3339 } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'console_access' })
export class ConsoleAccessEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  provider: string;

  @Column({ type: 'text' })
  external_organization_id: string;

  @Column({ type: 'text' })
  external_user_id: string;

  @Column({ type: 'text', nullable: true })
  display_name: string | null;

  @Column({ type: 'text', array: true })
  scopes: string[];

  @Column({ type: 'text' })
  status: 'active' | 'revoked';

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;

  @Column({ type: 'jsonb' })
  updated_by: Principal['actor'];
}
