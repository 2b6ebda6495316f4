import { ArrayField, StringField } from '@slipway/platform-http';
import { PLAN_STATES, PlanDto, type PlanState } from '@slipway/ports/plans';

export class PlanFilterDto {
  @StringField({ min: 1, max: 255, optional: true, description: 'Only plans of this deployment' })
  deployment?: string;

  @StringField({ enum: PLAN_STATES, optional: true, description: 'Only plans whose approval is in this state' })
  state?: PlanState;
}

export class ApprovePlanDto {
  @StringField({
    min: 1,
    max: 255,
    description: 'The content_digest of the plan that was reviewed; only this content is approved',
  })
  plan_digest: string;

  @StringField({ max: 2000, optional: true })
  comment?: string;
}

export class RejectPlanDto {
  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Expected content_digest of the plan; the request fails with 409 if it differs',
  })
  plan_digest?: string;

  @StringField({ max: 2000, optional: true })
  comment?: string;
}

export class PlanPageDto {
  @ArrayField(() => PlanDto)
  data: PlanDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
