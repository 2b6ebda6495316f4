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
      'Id, number or name of the revision the plan is based on; it must be the active one, and is where absent',
  })
  base_revision?: string;

  @StringField({ min: 1, max: 255, optional: true, description: '409 plan_stale unless the base has this digest' })
  base_spec_digest?: string;

  @StringField({ max: 2000, default: '' })
  summary: string;

  @ArrayField(() => PlanChangeDto, {
    maxItems: 64,
    default: [],
    description: 'What to change; derived from rollout where absent',
  })
  changes: PlanChangeDto[];

  @JsonField({
    optional: true,
    description: 'A body for POST /deployments/{name}/rollouts; derived from changes where absent',
    example: { spec_patch: { scaling: { min_replicas: 2 } } },
  })
  rollout?: Record<string, unknown>;

  @ArrayField(() => PlanEvidenceDto, { maxItems: 64, default: [] })
  evidence: PlanEvidenceDto[];

  @JsonField({ optional: true, nullable: true, description: "What the author expects, in the author's own terms" })
  predicted_impact?: Record<string, unknown> | null;

  @ObjectField(() => PlanRiskDto, {
    default: { level: 'low', reasons: [] },
    description: 'What the policy makes of the plan is added to it',
  })
  risk: PlanRiskDto;

  static check(plan: CreatePlanDto): FieldIssue[] {
    if (plan.changes.length > 0 || plan.rollout) return [];
    return [{ field: 'changes', code: 'required', message: 'give changes, rollout or both' }];
  }
}
