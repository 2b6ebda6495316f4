import { Controller } from '@nestjs/common';
import { CurrentPrincipal, Route, type Principal } from '@slipway/platform-http';
import { CalibrationDto } from './calibration.dto.js';
import { CalibrationService } from './calibration.service.js';

@Controller()
export class CalibrationController {
  constructor(private readonly calibration: CalibrationService) {}

  @Route({
    method: 'GET',
    path: '/autopilot/calibration',
    scope: 'viewer',
    tag: 'Autopilot',
    operationId: 'getAutopilotCalibration',
    summary: 'Compare predictions with outcomes',
    description:
      'Shows how close the predictions of executed plans were, for each kind of plan, and how wide the intervals of new plans are. Only plans of this tenant count. The newest 500 outcomes of each kind are read.',
    ok: { 200: CalibrationDto },
  })
  get(@CurrentPrincipal() who: Principal) {
    return this.calibration.get(who);
  }
}
