import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  Optional,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { CONFIG, type Config } from '@slipway/platform-config';
import { fullPathOf, routeOf, SlipwayHttpAdapter } from '@slipway/platform-http';
import { histogram, type ProbeServer, startProbeServer } from '@slipway/platform-observability';
import { SystemService } from './system.service.js';

/** Serves metrics on a port of their own, if configuration names one. */
@Injectable()
export class MetricsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: ProbeServer | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'host' | 'metricsPort' | 'metricsToken'>,
    private readonly system: SystemService,
    @Optional() private readonly host?: HttpAdapterHost,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { host, metricsPort, metricsToken } = this.config;
    // The worker builds this module too, but has a probe server of its own.
    if (metricsPort === undefined || !(this.host?.httpAdapter instanceof SlipwayHttpAdapter)) return;
    this.server = await startProbeServer({
      port: metricsPort,
      host,
      metricsToken,
      ready: () => this.system.assertReady(),
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}

/** Measures how long requests take, by route and status. */
@Injectable()
export class HttpMetrics implements OnModuleInit {
  constructor(@Optional() private readonly host?: HttpAdapterHost) {}

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds this module too, but serves no routes.
    if (!(adapter instanceof SlipwayHttpAdapter)) return;
    // The route is its pattern: paths hold ids, and a label value per id would grow without end.
    const durations = histogram(
      'slipway_http_request_duration_seconds',
      'Time from the head of a request to the end of its response',
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
