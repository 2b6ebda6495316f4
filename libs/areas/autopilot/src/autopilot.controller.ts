import { Body, Controller } from '@nestjs/common';
import { CurrentPrincipal, Route, type Principal } from '@slipway/platform-http';
import { PlanDto } from '@slipway/ports/plans';
import { CreatePlanDto } from './create-plan.dto.js';
import { ProposalsService } from './proposals.service.js';

@Controller()
export class AutopilotController {
  constructor(private readonly proposals: ProposalsService) {}

  @Route({
    method: 'POST',
    path: '/autopilot/plans',
    scope: 'operator',
    tag: 'Autopilot',
    operationId: 'createAutopilotPlan',
    summary: 'Create an advisory plan',
    description:
      'For people and outside optimizers. The content is frozen; it keeps to the policy in force, whose version it cites.',
    ok: { 201: PlanDto },
    errors: ['deployment_not_found', 'revision_not_found', 'plan_stale'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreatePlanDto) {
    return this.proposals.create(who, body);
  }
}
