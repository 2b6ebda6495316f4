import { Controller } from '@nestjs/common';
import { Page, Route, type PageOf, type PageRequest } from '@slipway/platform-http';
import { TargetListDto, type TargetDto } from './target.dto.js';
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
      "Where revisions can run: the targets of the operator's configuration, without commands, addresses and secrets.",
    ok: { 200: TargetListDto },
    paged: true,
  })
  list(@Page('string') page: PageRequest): Promise<PageOf<TargetDto>> {
    return this.targets.list(page);
  }
}
