import { Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { DeploymentInstancesService } from './deployment-instances.service.js';
import { InstanceFilterDto, InstanceListDto } from './instance.dto.js';

@Controller()
export class DeploymentInstancesController {
  constructor(private readonly instances: DeploymentInstancesService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/instances',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'listInstances',
    summary: 'List deployment instances',
    description:
      'Returns the instances of all revisions, newest first, including stopped ones, or those of one `revision`. `is_serving` shows which ones get requests, `failure` why the last start failed, `progress` how far the current one is.',
    ok: { 200: InstanceListDto },
    errors: ['deployment_not_found', 'revision_not_found'],
    paged: true,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Param('name') name: string,
    @Query() filter: InstanceFilterDto,
    @Page('string') page: PageRequest,
  ) {
    return this.instances.list(who, name, filter, page);
  }
}
