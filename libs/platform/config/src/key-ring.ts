import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A key-encryption key. As a `KeyObject` it shows nothing where an object that has it is printed. */
export interface Key {
  /** 8 hex characters; stands in front of what was sealed with it, and may be shown. */
  readonly id: string;
  readonly secret: KeyObject;
}

/**
 * The installation's key-encryption keys: `current` seals and opens, older ones only open. A key that leaves the ring takes what was
 * sealed with it along, so `rotate-secret-key` comes first.
 */
export class KeyRing {
  readonly current: Key;
  private readonly byIds: ReadonlyMap<string, Key>;

  /** @param current 32 bytes, as each of `old` */
  constructor(current: Buffer, old: readonly Buffer[] = []) {
    this.current = keyOf(current);
    this.byIds = new Map([this.current, ...old.map(keyOf)].map((key) => [key.id, key]));
  }

  /** Current one first. */
  all(): Key[] {
    return [...this.byIds.values()];
  }

  byId(id: string): Key | undefined {
    return this.byIds.get(id);
  }

  /**
   * A key for something else than sealing (HKDF-SHA256, 32 bytes), so that a key-encryption key itself signs nothing.
   * @param label what for; another label gives an unrelated key
   * @param id of the key it comes from
   * @throws RangeError where the ring has no such key
   */
  derive(label: string, id = this.current.id): KeyObject {
    const key = this.byId(id);
    if (!key) throw new RangeError(`the key ring has no key ${id}`);
    return createSecretKey(Buffer.from(hkdfSync('sha256', key.secret, '', label, 32)));
  }
}

/** Of a random 256-bit key a hash tells nothing; the label keeps it from being the hash of a key that somebody stored elsewhere. */
function keyOf(secret: Buffer): Key {
  const id = createHash('sha256').update('slipway key id\0').update(secret).digest('hex').slice(0, 8);
  return { id, secret: createSecretKey(secret) };
}
