import { createServer, type Server } from 'node:http';
import { Inject, Injectable, Logger, Optional, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONFIG, type Config } from '@slipway/platform-config';
import { SlipwayHttpAdapter } from '@slipway/platform-http';
import { HttpMetrics } from './http-metrics.js';

/** Serves metrics on a port of their own, where configuration names one: no token, so keep that port inside. */
@Injectable()
export class MetricsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('metrics');
  private server: Server | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'host' | 'metricsPort'>,
    @Inject(HttpMetrics) private readonly metrics: HttpMetrics,
    @Optional() @Inject(HttpAdapterHost) private readonly host?: HttpAdapterHost,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The worker builds this module too; both would want the same port.
    if (this.config.metricsPort === undefined || !(this.host?.httpAdapter instanceof SlipwayHttpAdapter)) return;
    const server = createServer((request, response) => {
      if (request.url?.split('?', 1)[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      this.metrics.registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': this.metrics.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.config.metricsPort, this.config.host, resolve);
    });
    this.server = server;
    this.logger.log(`metrics on port ${this.config.metricsPort}`);
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
