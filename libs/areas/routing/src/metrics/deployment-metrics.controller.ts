import { Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Route, type Principal } from '@slipway/platform-http';
import { DeploymentMetricsDto, MetricsQueryDto } from './deployment-metrics.dto.js';
import { DeploymentMetricsService } from './deployment-metrics.service.js';

@Controller()
export class DeploymentMetricsController {
  constructor(private readonly metrics: DeploymentMetricsService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/metrics',
    scope: 'viewer',
    tag: 'Monitoring',
    operationId: 'getDeploymentMetrics',
    summary: 'Show how requests to a deployment went',
    description:
      'By revision and step, from the records of the gateways that gates judge, by the same measures. What an analysis compared, with its limits and its verdict, stands in the `evidence` of its step of the operation.',
    ok: { 200: DeploymentMetricsDto },
    errors: ['deployment_not_found', 'revision_not_found', 'validation_failed'],
    notFoundFirst: DeploymentMetricsService,
  })
  get(@CurrentPrincipal() who: Principal, @Param('name') name: string, @Query() query: MetricsQueryDto) {
    return this.metrics.get(who, name, query);
  }
}
