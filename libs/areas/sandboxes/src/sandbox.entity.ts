import { rfc3339, wholeNumber } from '@slipway/platform-database';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SandboxProvider } from './sandbox.dto.js';

@Entity({ name: 'sandboxes' })
export class SandboxEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  provider: SandboxProvider;

  @Column({ type: 'text', nullable: true })
  reference_id: string | null;

  @Column({ type: 'text' })
  state: 'running' | 'paused' | 'stopped' | 'archived' | 'error' | 'unknown';

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  state_observed_at: string | null;

  @Column({ type: 'bigint', default: 0, transformer: wholeNumber })
  bytes_used: number;

  @Column({ type: 'bigint', transformer: wholeNumber })
  bytes_limit: number;

  @Column({ type: 'int', default: 0 })
  file_count: number;

  @Column({ type: 'jsonb', default: {} })
  labels: Record<string, string>;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  expires_at: string | null;
}
