import { Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { fullPathOf, routeOf, SlipwayHttpAdapter } from '@slipway/platform-http';
import { histogram } from '@slipway/platform-observability';
import type { FastifyInstance } from 'fastify';

/** Measures how long requests take, by route and status. */
@Injectable()
export class HttpMetrics implements OnModuleInit {
  constructor(@Optional() private readonly host?: HttpAdapterHost) {}

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds this module too, and serves no routes.
    if (!(adapter instanceof SlipwayHttpAdapter)) return;
    // The route is its pattern: paths hold ids, and a label value per id would grow without end.
    const durations = histogram(
      'slipway_http_request_duration_seconds',
      'From the head of a request to the end of its answer',
      ['method', 'route', 'status'],
    );
    const instance = adapter.getInstance() as unknown as FastifyInstance;
    instance.addHook('onResponse', (request, reply, done) => {
      const route = routeOf(request);
      const labels = {
        method: request.method,
        route: route ? fullPathOf(route) : 'none',
        status: String(reply.statusCode),
      };
      durations.observe(labels, reply.elapsedTime / 1000);
      done();
    });
  }
}
