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
    summary: 'Show request metrics',
    description:
      'Returns the metrics of a deployment by revision and time step, from the gateway records and with the measures that gates use. The `evidence` of an analysis step of a rollout shows what it compared, its limits and its verdict.',
    ok: { 200: DeploymentMetricsDto },
    errors: ['deployment_not_found', 'revision_not_found', 'validation_failed'],
    notFoundFirst: DeploymentMetricsService,
  })
  get(@CurrentPrincipal() who: Principal, @Param('name') name: string, @Query() query: MetricsQueryDto) {
    return this.metrics.get(who, name, query);
  }
}
