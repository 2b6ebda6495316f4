import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import {
  Client,
  EVENT_STREAM_EXAMPLE,
  EventPageDto,
  EventQueryDto,
  type FeedClient,
} from '@slipway/platform-durable/events';
import { OperationDto } from '@slipway/platform-durable/operations';
import {
  CancelOperationDto,
  OperationFilterDto,
  OperationPageDto,
  PauseOperationDto,
  PromoteOperationDto,
  ResumeOperationDto,
} from './operation-list.dto.js';
import { OperationsService } from './operations.service.js';

@Controller()
export class OperationsController {
  constructor(private readonly operations: OperationsService) {}

  @Route({
    method: 'GET',
    path: '/operations',
    scope: 'viewer',
    tag: 'Operations',
    operationId: 'listOperations',
    summary: 'List durable operations',
    description:
      'Returns operations, newest first. Filter them by `status`, `waiting_for`, `kind` and `resource_name`.',
    ok: { 200: OperationPageDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: OperationFilterDto, @Page('string') page: PageRequest) {
    return this.operations.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/operations/:id',
    scope: 'viewer',
    tag: 'Operations',
    operationId: 'getOperation',
    summary: 'Inspect a durable operation',
    description:
      'Returns its progress (`progress`, `current_step`, `steps`), its outcome (`status`, `result`) and, if it failed, the reason (`error_code`, `message`). Poll until `status` is `succeeded`, `failed` or `cancelled`, or follow its events.',
    ok: { 200: OperationDto },
    errors: ['operation_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.operations.get(who, id);
  }

  @Route({
    method: 'POST',
    path: '/operations/:id/cancel',
    scope: 'operator',
    tag: 'Operations',
    operationId: 'cancelOperation',
    summary: 'Cancel a live operation',
    description:
      'The operation undoes the steps that it has started and ends as `cancelled`. Repeating the request changes nothing.',
    example: { reason: 'The responses are worse.' },
    ok: { 200: OperationDto },
    notFoundFirst: OperationsService,
    errors: ['operation_not_found', 'operation_not_cancellable', 'validation_failed'],
  })
  cancel(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: CancelOperationDto) {
    return this.operations.cancel(who, id, body.reason);
  }

  @Route({
    method: 'POST',
    path: '/operations/:id/retry',
    scope: 'operator',
    tag: 'Operations',
    operationId: 'retryOperation',
    summary: 'Retry a failed operation',
    description: 'The operation continues with its first step that has not succeeded.',
    ok: { 200: OperationDto },
    errors: [
      'operation_not_found',
      'operation_not_retryable',
      'operation_in_progress',
      'deployment_protected',
      'plan_required',
    ],
  })
  retry(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.operations.retry(who, id);
  }

  @Route({
    method: 'POST',
    path: '/operations/:id/pause',
    scope: 'operator',
    tag: 'Operations',
    operationId: 'pauseOperation',
    summary: 'Pause a rollout',
    description:
      'The shares of the traffic stay as they are, and the time of a soak stops. A gate still stops the rollout if it finds a breach. Repeating the request changes nothing.',
    example: { reason: 'Waiting for the support team.' },
    ok: { 200: OperationDto },
    notFoundFirst: OperationsService,
    errors: ['operation_not_found', 'operation_not_pausable', 'validation_failed'],
  })
  pause(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: PauseOperationDto) {
    return this.operations.pause(who, id, body.reason);
  }

  @Route({
    method: 'POST',
    path: '/operations/:id/promote',
    scope: 'operator',
    tag: 'Operations',
    operationId: 'promoteOperation',
    summary: 'Promote a rollout by hand',
    description:
      'Ends the running step of a rollout as passed by a person (`next`), or passes all steps and moves all traffic (`full`). It also approves, decides, and ends a pause. The steps of a plan and of a protected deployment cannot be passed.',
    example: { to: 'next', reason: 'The metrics look good.' },
    ok: { 200: OperationDto },
    notFoundFirst: OperationsService,
    errors: [
      'operation_not_found',
      'operation_not_promotable',
      'promotion_refused',
      'self_approval',
      'validation_failed',
    ],
  })
  promote(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: PromoteOperationDto) {
    return this.operations.promote(who, id, body);
  }

  @Route({
    method: 'POST',
    path: '/operations/:id/resume',
    scope: 'operator',
    tag: 'Operations',
    operationId: 'resumeOperation',
    summary: 'Resume a waiting operation',
    description:
      'Ends a pause. If the operation is not paused but waits for a person, it approves or decides, as promote does.',
    example: { reason: 'The support team has answered.' },
    ok: { 200: OperationDto },
    notFoundFirst: OperationsService,
    errors: ['operation_not_found', 'operation_not_paused', 'self_approval', 'validation_failed'],
  })
  resume(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: ResumeOperationDto) {
    return this.operations.resume(who, id, body.reason);
  }

  @Route({
    method: 'GET',
    path: '/operations/:id/events',
    scope: 'viewer',
    tag: 'Operations',
    operationId: 'listOperationEvents',
    summary: 'List or follow operation events',
    description:
      'Returns a page of events. With `Accept: text/event-stream` it streams the events after `Last-Event-ID` or `after`. The stream ends after the last event of an operation that has ended. A client that already has this event gets 204.',
    ok: { 200: EventPageDto, 204: null },
    paged: true,
    eventStream: EVENT_STREAM_EXAMPLE,
    notFoundFirst: OperationsService,
    errors: ['operation_not_found', 'cursor_expired', 'quota_exceeded'],
  })
  events(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Query() query: EventQueryDto,
    @Page('integer') page: PageRequest,
    @Client() client: FeedClient,
  ) {
    return this.operations.events(who, id, query, page, client);
  }
}
