import { createHmac, type KeyObject } from 'node:crypto';
import type { Config, KeyRing } from '@slipway/platform-config';

/** A key that seals rows. */
export interface AuditKey {
  /** The id of the installation's key that this key derives from. Every row that the key seals contains it. */
  id: string;
  key: KeyObject;
}

const LABEL = 'slipway audit chain';

/**
 * The keys of the audit, one for each key of the installation. The current one seals new rows; older rows need theirs.
 */
export class AuditKeys {
  private readonly byIds: ReadonlyMap<string, AuditKey>;
  /** The key that seals new rows. */
  readonly current: AuditKey;

  constructor(ring: KeyRing) {
    this.byIds = new Map(ring.all().map(({ id }) => [id, { id, key: ring.derive(LABEL, id) }]));
    this.current = this.byIds.get(ring.current.id) as AuditKey;
  }

  static of({ keyRing }: Pick<Config, 'keyRing'>): AuditKeys {
    return new AuditKeys(keyRing);
  }

  find(id: string): AuditKey | undefined {
    return this.byIds.get(id);
  }

  get ids(): string[] {
    return [...this.byIds.keys()];
  }
}

/** Returns the HMAC-SHA-256, in hex, over a row's hash, and thereby over all rows up to this one. */
export function sealOf({ key }: AuditKey, hash: string): string {
  return createHmac('sha256', key).update(hash).digest('hex');
}
