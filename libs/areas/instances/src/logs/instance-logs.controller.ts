import { Controller, Param, Query } from '@nestjs/common';
import { Client, type FeedClient } from '@slipway/platform-durable/events';
import { CurrentPrincipal, Route, type Principal } from '@slipway/platform-http';
import { InstanceLogsService } from './instance-logs.service.js';
import { LogQueryDto } from './log-query.dto.js';

@Controller()
export class InstanceLogsController {
  constructor(private readonly service: InstanceLogsService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/instances/:id/logs',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'getInstanceLogs',
    summary: 'Read or follow instance output',
    description:
      'Returns the output as lines of text, with anything that looks like a secret removed. The output of each start is kept. With `follow=true` it returns a stream: events `stdout` and `stderr` with `{at, text}`, and `end` with `{reason}`. The audit log records each reader.',
    ok: { 200: 'text/plain' },
    errors: [
      'deployment_not_found',
      'instance_not_found',
      'logs_not_kept',
      'logs_unavailable',
      'validation_failed',
      'quota_exceeded',
    ],
    eventStream:
      'event: stdout\ndata: {"at":"2026-11-30T08:00:00.000Z","text":"Server is listening on port 8000"}\n\nevent: end\ndata: {"reason":"complete"}\n\n',
    notFoundFirst: InstanceLogsService,
  })
  logs(
    @CurrentPrincipal() who: Principal,
    @Param('name') name: string,
    @Param('id') id: string,
    @Query() query: LogQueryDto,
    @Client() client: FeedClient,
  ) {
    return this.service.logs(who, { name, id }, query, client);
  }
}
