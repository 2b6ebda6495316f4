import { Inject, Module, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONFIG, type Config } from '@slipway/platform-config';
import { SlipwayHttpAdapter } from '@slipway/platform-http';
import type { FastifyInstance } from 'fastify';
import { ConsoleCookies } from './sessions/console-cookies.js';
import { ConsoleEntrance } from './console-entrance.js';
import { ConsoleFiles } from './console-files.js';
import { ConsoleSessions, SessionUpkeep } from './sessions/console-sessions.js';
import { GatewayProxy } from './gateway/gateway-proxy.js';
import { ProviderClient } from './hosted/provider-client.js';
import { SessionRenewal } from './hosted/session-renewal.js';
import { SignInController } from './hosted/sign-in.controller.js';
import { SignInService } from './hosted/sign-in.service.js';
import { PlaygroundTokens } from './gateway/playground-tokens.js';
import { SessionController } from './sessions/session.controller.js';
import { SessionLookup } from './sessions/session-lookup.js';
import { SessionService } from './sessions/session.service.js';

@Module({
  controllers: [SessionController, SignInController],
  providers: [
    ConsoleCookies,
    ConsoleEntrance,
    ConsoleFiles,
    ConsoleSessions,
    GatewayProxy,
    PlaygroundTokens,
    ProviderClient,
    SessionLookup,
    SessionRenewal,
    SignInService,
    SessionService,
    SessionUpkeep,
  ],
})
export class ConsoleModule implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'console'>,
    private readonly files: ConsoleFiles,
    private readonly entrance: ConsoleEntrance,
    private readonly gateway: GatewayProxy,
    @Optional() private readonly host?: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds the same modules but serves no HTTP.
    if (!this.config.console.isOn || !(adapter instanceof SlipwayHttpAdapter)) return;
    const instance = adapter.getInstance<FastifyInstance>();
    adapter.setPages(this.files);
    adapter.addEntrance(this.entrance);
    this.files.serveAssets(instance);
    this.gateway.serve(instance);
  }
}
