import { ApiTokens1700000000011 } from './migrations/1700000000011-api-tokens.js';
import { TokenOwners1700000000013 } from './migrations/1700000000013-token-owners.js';
import { GatewayTokens1700000000012 } from './migrations/1700000000012-gateway-tokens.js';
import { Tenants1700000000010 } from './migrations/1700000000010-tenants.js';
import { TokenMade1700000000014 } from './migrations/1700000000014-token-made.js';
import { StoredTokens1700000000015 } from './migrations/1700000000015-stored-tokens.js';
import { TokenLimits1700000000016 } from './migrations/1700000000016-token-limits.js';
import { TokenRotation1700000000017 } from './migrations/1700000000017-token-rotation.js';

export { isAccessRefusal } from './access-watch.js';
export { ApiTokenEntity } from './api-token.entity.js';
export { AuthModule } from './auth.module.js';
export {
  BEARER_AUTHENTICATORS,
  BearerAuthenticators,
  type BearerAuthenticator,
  RequestGuard,
  withAccess,
} from './request-guard.js';
export { CREATED_BY_CONFIGURATION, ensureBootstrap } from './bootstrap.js';
export { accessOf, holdAccess, lockAccess, refusalIn, refusalOf, requireAccess } from './caller-access.js';
export {
  HAS_SECOND_TENANT,
  SCOPES,
  ownerOf,
  scopesToKeep,
  withIncluded,
  tenantName,
  tenantNameOf,
  TokenService,
  type NewToken,
  TokenUses,
} from './token.service.js';
export { TenantEntity } from './tenant.entity.js';
export { TOKEN_STATES, type TokenLookup, type TokenRow, type TokenState } from './token.query.js';
export const migrations = [
  Tenants1700000000010,
  ApiTokens1700000000011,
  GatewayTokens1700000000012,
  TokenOwners1700000000013,
  TokenMade1700000000014,
  StoredTokens1700000000015,
  TokenLimits1700000000016,
  TokenRotation1700000000017,
];
