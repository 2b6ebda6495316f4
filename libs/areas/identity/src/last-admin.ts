import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { COUNT_OTHER_ADMINS, LOCK_ADMINS } from './admins.query.js';
import { identityErrors } from './identity.errors.js';

/**
 * Keeps a tenant from locking itself out. Its admins are the active tokens and the granted identities with the scope admin;
 * identities count only if hosted sign-in is configured, since otherwise none of them can come in.
 */
@Injectable()
export class LastAdmin {
  private readonly signInProvider: string | null;

  constructor(@Inject(CONFIG) config: Pick<Config, 'identity'>) {
    this.signInProvider = config.identity.issuer === undefined ? null : config.identity.provider;
  }

  /** To be taken before anything that may remove an admin is read. Held until the transaction ends. */
  async lock(tx: Tx): Promise<void> {
    await tx.query(LOCK_ADMINS, [tx.tenant]);
  }

  /** Whether a mapping of this provider lets anybody in. */
  canSignIn(provider: string): boolean {
    return provider === this.signInProvider;
  }

  /** @throws last_admin (409) if the tenant has no admin beside this token or mapping */
  async assertAnother(tx: Tx, credentialId: string): Promise<void> {
    const row = await tx.one<{ others: string }>(COUNT_OTHER_ADMINS, [tx.tenant, credentialId, this.signInProvider]);
    if (Number(row!.others) === 0) throw identityErrors.last_admin();
  }
}
