import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  Conditions,
  Page,
  RehearsalDto,
  Route,
  ValidateOnly,
  type PageRequest,
  type Preconditions,
  type Principal,
} from '@slipway/platform-http';
import {
  Client,
  EVENT_STREAM_EXAMPLE,
  EventPageDto,
  EventQueryDto,
  type FeedClient,
} from '@slipway/platform-durable/events';
import { OperationEnvelopeDto } from '@slipway/platform-durable/operations';
import { DeletionsService } from './deletions.service.js';
import { CreateDeploymentDto, DeploymentDto, DeploymentFilterDto, DeploymentPageDto } from './deployment.dto.js';
import { UpdateDeploymentDto } from './deployment-settings.dto.js';
import { DeploymentsService } from './deployments.service.js';
import { DrainsService } from './drains.service.js';
import { UpdatesService } from './updates.service.js';

@Controller()
export class DeploymentsController {
  constructor(
    private readonly deployments: DeploymentsService,
    private readonly deletions: DeletionsService,
    private readonly updates: UpdatesService,
    private readonly drains: DrainsService,
  ) {}

  @Route({
    method: 'POST',
    path: '/deployments',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'createDeployment',
    summary: 'Create a deployment',
    description:
      'Creates a deployment without a model server. Create a rollout to start one. Clients send the name of the deployment to the gateway as `model`.',
    example: { name: 'chat', display_name: 'Chat', labels: { team: 'search' } },
    ok: { 201: DeploymentDto, 200: RehearsalDto },
    errors: ['deployment_exists', 'quota_exceeded'],
    dryRun: true,
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreateDeploymentDto, @ValidateOnly() isDryRun: boolean) {
    return this.deployments.create(who, body, isDryRun);
  }

  @Route({
    method: 'GET',
    path: '/deployments',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'listDeployments',
    summary: 'List deployments',
    description:
      'Returns deployments, newest first. Filter them by `state`, `environment` and `label`, or search with `q`.',
    ok: { 200: DeploymentPageDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: DeploymentFilterDto, @Page('string') page: PageRequest) {
    return this.deployments.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'getDeployment',
    summary: 'Inspect a deployment',
    description:
      'Returns the state with its conditions, the active, candidate and previous revisions, the route and the running operation. Send its `etag` as `If-Match` with a change.',
    ok: { 200: DeploymentDto },
    errors: ['deployment_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('name') name: string) {
    return this.deployments.get(who, name);
  }

  @Route({
    method: 'PATCH',
    path: '/deployments/:name',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'updateDeployment',
    summary: 'Change deployment settings',
    description:
      'Applies a JSON merge patch (RFC 7386). Fields in the patch change, `null` removes a field or resets it to its default, and labels merge key by key. A running rollout keeps the settings that it started with. Lowering `protection` requires the scope admin.',
    ok: { 200: [DeploymentDto, RehearsalDto] },
    example: { display_name: 'Chat for search', labels: { team: 'search' } },
    errors: ['deployment_not_found', 'operation_in_progress'],
    dryRun: true,
    conditional: true,
    notFoundFirst: DeploymentsService,
  })
  update(
    @CurrentPrincipal() principal: Principal,
    @Param('name') name: string,
    @Body() patch: UpdateDeploymentDto,
    @Conditions() conditions: Preconditions,
    @ValidateOnly() isDryRun: boolean,
  ) {
    return this.updates.update({ principal, name, patch, conditions, isDryRun });
  }

  @Route({
    method: 'DELETE',
    path: '/deployments/:name',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'deleteDeployment',
    summary: 'Delete a deployment',
    description:
      'Starts a durable operation of kind `delete_deployment`. It removes the route, stops the instances and frees the name. Instances with requests in flight stop when these have ended, after at most `drain_seconds`. If `protection.rollouts` is `approved_plan`, it requires the scope admin, because it removes that protection. Returns 202 with the operation.',
    ok: { 202: OperationEnvelopeDto },
    errors: ['deployment_not_found', 'deployment_protected', 'operation_in_progress'],
    conditional: true,
  })
  delete(@CurrentPrincipal() who: Principal, @Param('name') name: string, @Conditions() conditions: Preconditions) {
    return this.deletions.create(who, name, conditions);
  }

  @Route({
    method: 'POST',
    path: '/deployments/:name/end-drain',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'endDeploymentDrain',
    summary: 'End the drains',
    description:
      'Stops the instances that wait for requests in flight (`draining`) now. These requests break. Repeating the request changes nothing. Returns the deployment.',
    ok: { 200: DeploymentDto },
    errors: ['deployment_not_found'],
  })
  endDrain(@CurrentPrincipal() who: Principal, @Param('name') name: string) {
    return this.drains.end(who, name);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/events',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'listDeploymentEvents',
    summary: 'List or follow deployment events',
    description:
      'Returns a page of events. With `Accept: text/event-stream` it streams the events after `Last-Event-ID` or `after`, by default from the oldest stored event.',
    ok: { 200: EventPageDto },
    errors: ['deployment_not_found', 'cursor_expired', 'quota_exceeded'],
    paged: true,
    eventStream: EVENT_STREAM_EXAMPLE,
    notFoundFirst: DeploymentsService,
  })
  events(
    @CurrentPrincipal() who: Principal,
    @Param('name') name: string,
    @Query() query: EventQueryDto,
    @Page('integer') page: PageRequest,
    @Client() client: FeedClient,
  ) {
    return this.deployments.events(who, name, query, page, client);
  }
}
