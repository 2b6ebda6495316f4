import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A key-encryption key. It is a `KeyObject`, so that printing an object that contains it does not show it. */
export interface Key {
  /** 8 hex characters. They precede every value that was sealed with this key, and may be shown. */
  readonly id: string;
  readonly secret: KeyObject;
}

/**
 * The installation's key-encryption keys: `current` seals and opens, older ones only open. Values that were sealed with
 * a key cannot be opened after it leaves the ring, so run `rotate-secret-key` before.
 */
export class KeyRing {
  readonly current: Key;
  private readonly byIds: ReadonlyMap<string, Key>;

  /** @param current 32 bytes, like each of `old` */
  constructor(current: Buffer, old: readonly Buffer[] = []) {
    this.current = keyOf(current);
    this.byIds = new Map([this.current, ...old.map(keyOf)].map((key) => [key.id, key]));
  }

  /** The current key is first. */
  all(): Key[] {
    return [...this.byIds.values()];
  }

  byId(id: string): Key | undefined {
    return this.byIds.get(id);
  }

  /**
   * Derives a key for a purpose other than sealing (HKDF-SHA256, 32 bytes), so that a key-encryption key itself signs
   * nothing.
   * @param label the purpose; another label gives an unrelated key
   * @param id of the key from which it is derived
   * @throws RangeError if the ring has no such key
   */
  derive(label: string, id = this.current.id): KeyObject {
    const key = this.byId(id);
    if (!key) throw new RangeError(`the key ring has no key ${id}`);
    return createSecretKey(Buffer.from(hkdfSync('sha256', key.secret, '', label, 32)));
  }
}

/**
 * The hash of a random 256-bit key reveals nothing. The label makes it differ from a plain hash of the key, which may
 * be stored elsewhere.
 */
function keyOf(secret: Buffer): Key {
  const id = createHash('sha256').update('slipway key id\0').update(secret).digest('hex').slice(0, 8);
  return { id, secret: createSecretKey(secret) };
}
