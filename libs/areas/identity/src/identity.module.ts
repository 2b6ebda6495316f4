import { Module } from '@nestjs/common';
import { TenantsController } from './tenants.controller.js';
import { TenantsService } from './tenants.service.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

@Module({ controllers: [TenantsController, TokensController], providers: [TenantsService, TokensService] })
export class IdentityModule {}
