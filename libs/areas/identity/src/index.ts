export { IdentityModule } from './identity.module.js';

/** Tenants and tokens stand in platform-auth's tables; this area has none of its own yet. */
export const migrations: (new () => never)[] = [];
