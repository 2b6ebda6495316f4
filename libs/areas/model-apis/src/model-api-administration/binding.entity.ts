import type { Actor } from '@slipway/contracts';
import { rfc3339 } from '@slipway/platform-database';
import type { CheckResult } from '@slipway/target-driver/qualification';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BoundTargetDto, QualificationCheckDto } from './binding.dto.js';

@Entity({ name: 'model_api_target_bindings' })
export class BindingEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  product_id: string;

  @Column({ type: 'jsonb' })
  target: BoundTargetDto;

  @Column({ type: 'text', nullable: true })
  revision_id: string | null;

  /** Sealed. Only a read that names the column gets it, so that no answer and no audit row can show it. */
  @Column({ type: 'text', nullable: true, select: false })
  credential: string | null;

  @Column({ type: 'text' })
  target_digest: string;

  @Column({ type: 'jsonb' })
  limits: { max_rps: number | null; max_concurrency: number | null; share_per_tenant?: number | null };

  @Column({ type: 'text', default: 'unqualified' })
  state: 'unqualified' | 'qualified' | 'suspended' | 'retired';

  @Column({ type: 'jsonb', default: [] })
  checks: QualificationCheckDto[];

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  checked_at: string | null;

  @Column({ type: 'text', nullable: true })
  operation_id: string | null;

  /** When an event last reported each fault of the configuration. */
  @Column({ type: 'jsonb', default: {}, select: false })
  reported_faults: Record<string, string>;

  @Column({ type: 'jsonb' })
  created_by: Actor;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;
}

/** Adds the result to checks that older releases stored: those only say whether they passed. */
export function withResult<C extends { passed: boolean; result?: CheckResult }>(check: C): C & { result: CheckResult } {
  return { ...check, result: check.result ?? (check.passed ? 'passed' : 'failed') };
}
