import { instanceKey, openPublished, type PublishedInstance } from '@slipway/dataplane';
import type { KeyRing } from '@slipway/platform-config/load';
import type { Log } from '../log.js';

/** This process has not the key that the installation's credentials were sealed with. */
export class ForeignKeyError extends Error {
  constructor(reason: unknown) {
    super(
      `none of the published credentials can be decrypted: ${reason instanceof Error ? reason.message : String(reason)}`,
    );
    this.name = 'ForeignKeyError';
  }
}

/** Opens credentials of published rows, and remembers whether that ever went well. */
export class PublishedCredentials {
  private hasOpened = false;
  private failure: unknown;

  private readonly missingKeys = new Set<string>();

  constructor(
    private readonly keyRing: KeyRing,
    private readonly log: Log,
  ) {}

  /** @throws SecretBoxError for a key that is not in the ring, or a text that stood in another row */
  readonly open = (sealed: string, context: string): string => {
    try {
      const opened = openPublished(this.keyRing, sealed, context);
      this.hasOpened = true;
      return opened;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  };

  /**
   * What an instance's own engine asks for, `null` where it asks for nothing. Undefined where that cannot be known: the ring has
   * not the key that the engine was started with, which is said once.
   */
  readonly keyOf = ({ id, key }: PublishedInstance): string | null | undefined => {
    if (!key) return null;
    if (this.keyRing.byId(key.id))
      return instanceKey(this.keyRing, { instanceId: id, generation: key.generation, keyId: key.id });
    if (!this.missingKeys.has(key.id))
      this.log.error(
        { instance: id, key: key.id },
        'cannot send requests to instances that were started with this key: add the key to SLIPWAY_SECRET_KEYS_OLD, or restart the instances',
      );
    this.missingKeys.add(key.id);
    return undefined;
  };

  /** One that does not open is one backend's trouble; none is a wrong key. Asked at the start only: a gateway that serves goes on. */
  foreignKey(): ForeignKeyError | undefined {
    return this.failure === undefined || this.hasOpened ? undefined : new ForeignKeyError(this.failure);
  }
}
