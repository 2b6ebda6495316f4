import { ArrayField, JsonField, ObjectField, StringField, type FieldIssue } from '@slipway/platform-http';
import { PlanChangeDto, PlanEvidenceDto, PlanRiskDto } from '@slipway/ports/plans';

export class CreatePlanDto {
  @StringField({ min: 1, max: 255, description: 'Name of the deployment', example: 'chat' })
  deployment: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description:
      'Id, number or name of the revision that the plan is based on; it must be the active one, which is the default',
  })
  base_revision?: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Expected spec digest of the base; the request fails with 409 plan_stale if it differs',
  })
  base_spec_digest?: string;

  @StringField({ max: 2000, default: '' })
  summary: string;

  @ArrayField(() => PlanChangeDto, {
    maxItems: 64,
    default: [],
    description: 'Changes to the spec; derived from rollout if omitted',
  })
  changes: PlanChangeDto[];

  @JsonField({
    optional: true,
    description: 'Body for POST /deployments/{name}/rollouts; derived from changes if omitted',
    example: { spec_patch: { scaling: { min_replicas: 2 } } },
  })
  rollout?: Record<string, unknown>;

  @ArrayField(() => PlanEvidenceDto, { maxItems: 64, default: [] })
  evidence: PlanEvidenceDto[];

  @JsonField({
    optional: true,
    nullable: true,
    description:
      'Impact that the author expects, as a free-form object. Entries of `metrics` with `metric`, `stat`, `now` (or null), and `predicted` with `value`, `low` and `high`, are compared with what the plan achieves',
  })
  predicted_impact?: Record<string, unknown> | null;

  @ObjectField(() => PlanRiskDto, {
    default: { level: 'low', reasons: [] },
    description: 'Risk as the author sees it; the policy adds its own reasons',
  })
  risk: PlanRiskDto;

  static check(plan: CreatePlanDto): FieldIssue[] {
    if (plan.changes.length > 0 || plan.rollout) return [];
    return [{ field: 'changes', code: 'required', message: 'changes, rollout or both are required' }];
  }
}
