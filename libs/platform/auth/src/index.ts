import { ApiTokens1700000000011 } from './migrations/1700000000011-api-tokens.js';
import { Tenants1700000000010 } from './migrations/1700000000010-tenants.js';

export { ApiTokenEntity } from './api-token.entity.js';
export { AuthModule } from './auth.module.js';
export { BEARER_AUTHENTICATORS, BearerAuthenticators, type BearerAuthenticator } from './bearer-authenticators.js';
export { ensureBootstrap, OPERATOR_TENANT } from './bootstrap.js';
export { RequestGuard } from './request-guard.js';
export { SCOPES, withIncluded } from './scopes.js';
export { TenantEntity } from './tenant.entity.js';
export { type TokenLookup, type TokenRow } from './token.query.js';
export { TokenService, type NewToken } from './token.service.js';
export { TokenUses } from './token-uses.js';
export const migrations = [Tenants1700000000010, ApiTokens1700000000011];
