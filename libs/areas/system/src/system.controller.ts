import { Controller, Req } from '@nestjs/common';
import { reply, Route, type Reply, type SlipwayRequest } from '@slipway/platform-http';
import { SystemService } from './system.service.js';

@Controller()
export class SystemController {
  constructor(private readonly system: SystemService) {}

  @Route({
    method: 'GET',
    path: '//healthz',
    scope: 'public',
    tag: 'System',
    operationId: 'health',
    summary: 'The process is alive',
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
    summary: 'The process can serve',
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
    summary: 'Metrics for Prometheus',
    ok: { 200: null },
  })
  async metrics(@Req() request: SlipwayRequest): Promise<Reply<string>> {
    const { body, contentType } = await this.system.metrics(request);
    return reply(200, body, { 'content-type': contentType });
  }
}
