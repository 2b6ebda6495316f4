import { Inject, Injectable, Optional, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONFIG, type Config } from '@slipway/platform-config';
import { SlipwayHttpAdapter } from '@slipway/platform-http';
import { startProbeServer, type ProbeServer } from '@slipway/platform-observability';
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
    // The worker builds this module too, and has a probe server of its own.
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
