import { Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Route, type Principal } from '@slipway/platform-http';
import { DiagnosisDto } from './diagnosis.dto.js';
import { DiagnosisService } from './diagnosis.service.js';

@Controller()
export class DiagnosisController {
  constructor(private readonly diagnoses: DiagnosisService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/autopilot/diagnosis',
    scope: 'viewer',
    tag: 'Autopilot',
    operationId: 'getAutopilotDiagnosis',
    summary: 'Diagnose the SLOs',
    description:
      'Shows for each SLO of the policy whether it is met, why it is missed, how the load changes it and how many replicas would be enough, from the records of the gateways at this moment. `decision` is what the last round of the autopilot did, or why it did nothing. Returns 404 `policy_not_found` without a policy.',
    ok: { 200: DiagnosisDto },
    errors: ['deployment_not_found', 'policy_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('name') name: string) {
    return this.diagnoses.get(who, name);
  }
}
