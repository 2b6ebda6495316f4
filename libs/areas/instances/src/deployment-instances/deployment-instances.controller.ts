import { Controller, Param, Query } from '@nestjs/common';
import { Client, type FeedClient } from '@slipway/platform-durable/events';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { DeploymentInstancesService } from './deployment-instances.service.js';
import { InstanceListDto, LogQueryDto } from './instance.dto.js';

@Controller()
export class DeploymentInstancesController {
  constructor(private readonly instances: DeploymentInstancesService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/instances',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'listInstances',
    summary: 'List the instances of a deployment, newest first',
    description:
      'Of all its revisions, with those that have stopped. `failure` says why the last start came to nothing, `progress` how far one is.',
    ok: { 200: InstanceListDto },
    errors: ['deployment_not_found'],
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Param('name') name: string, @Page('string') page: PageRequest) {
    return this.instances.list(who, name, page);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/instances/:id/logs',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'getInstanceLogs',
    summary: 'Read or follow the output of an instance',
    description:
      'Text, a line each, without what looks like a secret; it is kept for each start. With `follow=true` a stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit tells who read.',
    ok: { 200: 'text/plain' },
    errors: [
      'deployment_not_found',
      'instance_not_found',
      'logs_not_kept',
      'logs_unavailable',
      'validation_failed',
      'quota_exceeded',
    ],
    eventStream: true,
    notFoundFirst: DeploymentInstancesService,
  })
  logs(
    @CurrentPrincipal() who: Principal,
    @Param('name') name: string,
    @Param('id') id: string,
    @Query() query: LogQueryDto,
    @Client() client: FeedClient,
  ) {
    return this.instances.logs(who, { name, id }, query, client);
  }
}
