import { createHmac, type KeyObject } from 'node:crypto';
import type { Config, KeyRing } from '@slipway/platform-config';

/** A key that seals rows. */
export interface AuditKey {
  /** Stands in every row that the key sealed: the id of the installation's key that it comes from. */
  id: string;
  key: KeyObject;
}

const LABEL = 'slipway audit chain';

/** The keys of the audit, one for each of the installation's: new rows are sealed with the current one's, and rows of before need theirs. */
export class AuditKeys {
  private readonly byIds: ReadonlyMap<string, AuditKey>;
  /** Seals new rows. */
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

/** HMAC-SHA-256, in hex, over a row's hash, and with it over all rows up to this one. */
export function sealOf({ key }: AuditKey, hash: string): string {
  return createHmac('sha256', key).update(hash).digest('hex');
}
