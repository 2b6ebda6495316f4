import { Controller, Req } from '@nestjs/common';
import {
  CurrentPrincipal,
  reply,
  Route,
  type Principal,
  type Reply,
  type SlipwayRequest,
} from '@slipway/platform-http';
import { SystemDto } from './system.dto.js';
import { SystemStatusService } from './system-status.service.js';
import { SystemService } from './system.service.js';

@Controller()
export class SystemController {
  constructor(
    private readonly system: SystemService,
    private readonly status: SystemStatusService,
  ) {}

  @Route({
    method: 'GET',
    path: '/system',
    scope: 'viewer',
    tag: 'System',
    operationId: 'getSystem',
    summary: 'Show the system status',
    description:
      'Returns versions and retention times. The operator tenant also gets the state of Postgres, the backlog of operations, workers and gateways.',
    ok: { 200: SystemDto },
  })
  show(@CurrentPrincipal() who: Principal) {
    return this.status.get(who);
  }

  @Route({
    method: 'GET',
    path: '//healthz',
    scope: 'public',
    tag: 'System',
    operationId: 'health',
    summary: 'Check liveness',
    ok: { 200: null },
  })
  health(): object {
    return { status: 'ok' };
  }

  @Route({
    method: 'GET',
    path: '//readyz',
    scope: 'public',
    tag: 'System',
    operationId: 'readiness',
    summary: 'Check readiness',
    ok: { 200: null },
  })
  async ready(): Promise<object> {
    await this.system.assertReady();
    return { status: 'ready' };
  }

  @Route({
    method: 'GET',
    path: '//metrics',
    scope: 'public',
    tag: 'System',
    operationId: 'metrics',
    summary: 'Read Prometheus metrics',
    ok: { 200: null },
  })
  async metrics(@Req() request: SlipwayRequest): Promise<Reply<string>> {
    const { body, contentType } = await this.system.metrics(request);
    return reply(200, body, { 'content-type': contentType });
  }
}
