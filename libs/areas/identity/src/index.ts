import { ConsoleAccess1700000000500 } from './migrations/1700000000500-console-access.js';
import { TenantOrganizations1700000000501 } from './migrations/1700000000501-tenant-organizations.js';
import { StoredAccess1700000000502 } from './migrations/1700000000502-stored-access.js';

export { IdentityModule } from './identity.module.js';

/** Tenants and tokens are in the tables of platform-http/auth. */
export const migrations = [ConsoleAccess1700000000500, TenantOrganizations1700000000501, StoredAccess1700000000502];
