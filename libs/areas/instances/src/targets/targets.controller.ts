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
    summary: 'List execution targets by name',
    description:
      "Where revisions can run: the targets that the operator's configuration has for this tenant, without commands, addresses and secrets.",
    ok: { 200: TargetListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest): Promise<TargetListDto> {
    return this.targets.list(who, page);
  }
}
