import type { Actor } from '@slipway/contracts';
import { rfc3339 } from '@slipway/platform-database';
import type { Policy, PolicyContent } from '@slipway/ports/policies';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'optimization_policies' })
export class PolicyEntity implements Policy {
  @PrimaryColumn({ type: 'text' })
  deploymentId: string;

  @PrimaryColumn({ type: 'int' })
  version: number;

  @Column({ type: 'text' })
  tenantId: string;

  @Column({ type: 'jsonb' })
  content: PolicyContent;

  @Column({ type: 'text' })
  digest: string;

  @Column({ type: 'jsonb' })
  updatedBy: Actor;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updatedAt: string;
}
