import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { fullPathOf, routeOf, SlipwayHttpAdapter } from '@slipway/platform-http';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** What this process tells Prometheus: its own health, and how long requests took by route and status. */
@Injectable()
export class HttpMetrics implements OnModuleInit {
  readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: 'slipway_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer',
    // The route is its pattern: paths hold ids, and a label value per id would grow without end.
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.registry],
  });

  constructor(@Optional() @Inject(HttpAdapterHost) private readonly host?: HttpAdapterHost) {}

  onModuleInit(): void {
    collectDefaultMetrics({ register: this.registry });
    const adapter = this.host?.httpAdapter;
    if (!(adapter instanceof SlipwayHttpAdapter)) return;
    const instance = adapter.getInstance() as unknown as FastifyInstance;
    instance.addHook('onResponse', (request, reply, done) => {
      const route = routeOf(request);
      this.durations.observe(
        { method: request.method, route: route ? fullPathOf(route) : 'none', status: String(reply.statusCode) },
        reply.elapsedTime / 1000,
      );
      done();
    });
  }
}
