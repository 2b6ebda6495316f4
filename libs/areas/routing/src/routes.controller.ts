import { Body, Controller, Param } from '@nestjs/common';
import {
  Conditions,
  CurrentPrincipal,
  RehearsalDto,
  Route,
  ValidateOnly,
  type Preconditions,
  type Principal,
} from '@slipway/platform-http';
import { RouteDto, SetRouteDto } from './route.dto.js';
import { RoutesService } from './routes.service.js';

@Controller()
export class RoutesController {
  constructor(private readonly routes: RoutesService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/route',
    scope: 'viewer',
    tag: 'Routing',
    operationId: 'getRoute',
    summary: 'Inspect the route',
    description:
      'Returns 404 `route_not_found` until a rollout or a PUT has set a route. Send `etag` as `If-Match` with the next PUT.',
    ok: { 200: RouteDto },
    errors: ['deployment_not_found', 'route_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('name') name: string) {
    return this.routes.get(who, name);
  }

  @Route({
    method: 'PUT',
    path: '/deployments/:name/route',
    scope: 'operator',
    tag: 'Routing',
    operationId: 'setRoute',
    summary: 'Set the route',
    description:
      '`{"revision": "..."}` sends all traffic to one revision; `targets` splits it. Gateways apply the route after it is stored.',
    example: { revision: 'chat-00001', reason: 'All traffic to the first revision' },
    ok: { 200: [RouteDto, RehearsalDto] },
    dryRun: true,
    conditional: true,
    notFoundFirst: RoutesService,
    errors: [
      'deployment_not_found',
      'revision_not_found',
      'route_weights_invalid',
      'route_owned_by_operation',
      'revision_not_ready',
    ],
  })
  set(
    @CurrentPrincipal() principal: Principal,
    @Param('name') deploymentName: string,
    @Body() body: SetRouteDto,
    @Conditions() conditions: Preconditions,
    @ValidateOnly() isDryRun: boolean,
  ) {
    return this.routes.set({ principal, deploymentName, body, conditions, isDryRun });
  }
}
