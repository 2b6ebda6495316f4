import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { PlanDto } from '@slipway/ports/plans';
import { DecisionsService } from './decisions.service.js';
import { ApprovePlanDto, PlanFilterDto, PlanPageDto, RejectPlanDto } from './plan-requests.dto.js';
import { PlansService } from './plans.service.js';

@Controller()
export class PlansController {
  constructor(
    private readonly plans: PlansService,
    private readonly decisions: DecisionsService,
  ) {}

  @Route({
    method: 'GET',
    path: '/autopilot/plans',
    scope: 'viewer',
    tag: 'Autopilot',
    operationId: 'listAutopilotPlans',
    summary: 'List plans, newest first',
    description: 'Returns plans with the state of their approval. Filter with `state` and `deployment`.',
    ok: { 200: PlanPageDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: PlanFilterDto, @Page('string') page: PageRequest) {
    return this.plans.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/autopilot/plans/:id',
    scope: 'viewer',
    tag: 'Autopilot',
    operationId: 'getAutopilotPlan',
    summary: 'Inspect a plan',
    description:
      'The content of a plan never changes; only `approval` and `stale` do. An approval must name the `content_digest`.',
    ok: { 200: PlanDto },
    errors: ['plan_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.plans.get(who, id);
  }

  @Route({
    method: 'POST',
    path: '/autopilot/plans/:id/approve',
    scope: 'operator',
    tag: 'Autopilot',
    operationId: 'approveAutopilotPlan',
    summary: 'Approve a plan',
    description:
      'Records the approval of one person and changes nothing else. To execute an approved plan, create a rollout with its `plan_id`. All tokens of one owner count as one person. Service tokens cannot approve.',
    example: { plan_digest: 'content_digest of the plan', comment: 'Looks right' },
    ok: { 200: PlanDto },
    notFoundFirst: DecisionsService,
    errors: [
      'plan_not_found',
      'approver_not_a_person',
      'hosted_identity_required',
      'self_approval_forbidden',
      'plan_already_decided',
      'plan_expired',
      'plan_stale',
      'plan_digest_mismatch',
    ],
  })
  approve(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: ApprovePlanDto) {
    return this.decisions.approve(who, id, body);
  }

  @Route({
    method: 'POST',
    path: '/autopilot/plans/:id/reject',
    scope: 'operator',
    tag: 'Autopilot',
    operationId: 'rejectAutopilotPlan',
    summary: 'Reject or withdraw a plan',
    description:
      'A rejected plan can never be approved. The creator withdraws a plan with the same request. The request does not change what is served.',
    example: { comment: 'Not before the release' },
    ok: { 200: PlanDto },
    notFoundFirst: DecisionsService,
    errors: ['plan_not_found', 'plan_already_decided', 'plan_expired', 'plan_stale', 'plan_digest_mismatch'],
  })
  reject(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: RejectPlanDto) {
    return this.decisions.reject(who, id, body);
  }
}
