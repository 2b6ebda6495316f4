import { instanceKey, openPublished, type PublishedInstance } from '@slipway/dataplane';
import type { KeyRing } from '@slipway/platform-config/load';
import type { Log } from '../log.js';

/** This process does not have the key that sealed the installation's credentials. */
export class ForeignKeyError extends Error {
  constructor(reason: unknown) {
    super(
      `none of the published credentials can be decrypted: ${reason instanceof Error ? reason.message : String(reason)}`,
    );
    this.name = 'ForeignKeyError';
  }
}

/** Opens credentials of published rows, and remembers whether that ever succeeded. */
export class PublishedCredentials {
  private hasOpened = false;
  private failure: unknown;

  private readonly missingKeys = new Set<string>();

  constructor(
    private readonly keyRing: KeyRing,
    private readonly log: Log,
  ) {}

  /** @throws SecretBoxError for a key that is not in the ring, or a text that was sealed for another row */
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
   * Returns the key that an instance's own engine requires, or `null` if it requires none. Returns undefined if the
   * ring does not have the key that the engine was started with, and logs that once.
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

  /**
   * If one credential does not open, that affects one backend; if none does, the key is wrong. Checked at the start
   * only: a serving gateway continues.
   */
  foreignKey(): ForeignKeyError | undefined {
    return this.failure === undefined || this.hasOpened ? undefined : new ForeignKeyError(this.failure);
  }
}
