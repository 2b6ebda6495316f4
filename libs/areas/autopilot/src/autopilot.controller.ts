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
      'For people and external optimizers. The plan must comply with the current policy, whose version it records. Its content never changes.',
    example: {
      deployment: 'chat',
      summary: 'Two replicas',
      changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2, rationale: 'Time to first token' }],
      evidence: [
        {
          kind: 'telemetry',
          tool: 'load test',
          metric: 'ttft_ms',
          stat: 'p95',
          baseline: { value: 300, n: 500 },
          candidate: { value: 150, n: 500 },
        },
      ],
    },
    ok: { 201: PlanDto },
    errors: ['deployment_not_found', 'revision_not_found', 'plan_stale'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreatePlanDto) {
    return this.proposals.create(who, body);
  }
}
