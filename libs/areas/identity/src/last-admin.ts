import { Inject, Injectable } from '@nestjs/common';
import { ArrayContains, In, IsNull, Not, Raw } from 'typeorm';
import { CONFIG, type Config } from '@slipway/platform-config';
import { prepared, type Tx } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { ApiTokenEntity, lockAccess } from '@slipway/platform-http/auth';
import { ConsoleAccessEntity } from './console-access.entity.js';
import { identityErrors } from './identity.errors.js';
import { organizationsOf } from './tenant-organizations.js';

/**
 * Serialises everything that may remove an admin from a tenant: two removals that each saw the other one's admin would
 * together leave none. An advisory lock, because the tenant cannot see its own row.
 */
export const LOCK_TENANT_ADMINS = prepared(
  'identity-admins-lock',
  `select pg_advisory_xact_lock(hashtextextended('slipway.admins:' || $1::text, 0))`,
);

/**
 * Keeps a tenant from locking itself out. Its admins are the active tokens and the granted identities with the scope
 * admin. Identities count only if hosted sign-in is configured and the tenant has their organization, because otherwise
 * they cannot sign in. A tenant cannot see which organizations have no owner, so identities of those do not count for
 * the operator tenant.
 */
@Injectable()
export class LastAdmin {
  private readonly signInProvider: string | null;

  constructor(@Inject(CONFIG) config: Pick<Config, 'identity'>) {
    this.signInProvider = config.identity.issuer === undefined ? null : config.identity.provider;
  }

  /**
   * Take this lock before reading anything that may remove an admin. It lasts until the transaction ends. An admin who
   * was removed while it waited for the lock changes nothing; itself it may remove.
   */
  async lock(tx: Tx, who: Principal): Promise<void> {
    tx.enqueue(LOCK_TENANT_ADMINS, [tx.tenant]);
    await lockAccess(tx, who);
  }

  /** Whether mappings of this provider give access. */
  canSignIn(provider: string): boolean {
    return provider === this.signInProvider;
  }

  /** @throws last_admin (409) if the tenant has no admin in addition to this token or mapping */
  async assertAnother(tx: Tx, credentialId: string): Promise<void> {
    const admin = { tenant_id: tx.tenant, id: Not(credentialId), scopes: ArrayContains(['admin']) };
    const living = { revoked_at: IsNull(), expires_at: Raw((expiresAt) => `${expiresAt} > now()`) };
    if (await tx.repository(ApiTokenEntity).existsBy({ ...admin, ...living })) return;
    const provider = this.signInProvider;
    if (provider === null) throw identityErrors.last_admin();
    const organizations = (await organizationsOf(tx, provider, [tx.tenant])).get(tx.tenant) ?? [];
    const granted = { ...admin, status: 'active' as const, provider, external_organization_id: In(organizations) };
    if (!(await tx.repository(ConsoleAccessEntity).existsBy(granted))) throw identityErrors.last_admin();
  }
}
