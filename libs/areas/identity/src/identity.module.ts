import { Inject, Module } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { ConsoleAccessController } from './console-access.controller.js';
import { declareProvider } from './console-access.dto.js';
import { ConsoleAccessService } from './console-access.service.js';
import { HostedIdentities } from './hosted/hosted-identities.js';
import { LastAdmin } from './last-admin.js';
import { TenantsController } from './tenants.controller.js';
import { TenantsService } from './tenants.service.js';
import { TokenMetrics, TokenRetention } from './token-retention.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

@Module({
  controllers: [TenantsController, TokensController, ConsoleAccessController],
  providers: [
    LastAdmin,
    TenantsService,
    TokensService,
    TokenRetention,
    TokenMetrics,
    ConsoleAccessService,
    HostedIdentities,
  ],
})
export class IdentityModule {
  constructor(@Inject(CONFIG) config: Pick<Config, 'identity'>) {
    declareProvider(config.identity.provider);
  }
}
