import { Controller } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { TargetListDto } from './target.dto.js';
import { TargetsService } from './targets.service.js';

@Controller()
export class TargetsController {
  constructor(private readonly targets: TargetsService) {}

  @Route({
    method: 'GET',
    path: '/targets',
    scope: 'viewer',
    tag: 'Targets',
    operationId: 'listTargets',
    summary: 'List execution targets',
    description:
      "Returns the targets where revisions of this tenant can run, by name. Commands, addresses and secrets of the operator's configuration are omitted.",
    ok: { 200: TargetListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest): Promise<TargetListDto> {
    return this.targets.list(who, page);
  }
}
