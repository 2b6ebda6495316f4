import { Inject, Injectable } from '@nestjs/common';
import type { RevisionSpec } from '@slipway/contracts';
import { instanceKey } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { TargetDriver } from '@slipway/target-driver';
import { engineTraitsOf } from '../catalog/target-catalog.js';

/** The values from which an instance's key is derived. */
interface KeyOwner {
  id: string;
  generation: number;
  key_id: string | null;
}

/**
 * The keys of engines that refuse requests without a key. A running engine keeps its key, even if the key ring changes.
 */
@Injectable()
export class EngineKeys {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>) {}

  /**
   * Returns the id of the ring key from which a generation that starts now gets its key; null if the engine needs no
   * key.
   */
  idFor(driver: TargetDriver, spec: RevisionSpec): string | null {
    return engineTraitsOf(driver, spec)?.isKeyed ? this.config.keyRing.current.id : null;
  }

  /** Returns the key for `InstanceSpec`. Empty if the engine needs no key, or if its ring key has left the ring. */
  of({ id, generation, key_id: keyId }: KeyOwner): { instanceKey?: string } {
    if (keyId === null || this.isLost(keyId)) return {};
    return { instanceKey: instanceKey(this.config.keyRing, { instanceId: id, generation, keyId }) };
  }

  /** Whether an engine got its key from a ring key that is lost, so that no client can call it any more. */
  isLost(keyId: string | null): boolean {
    return keyId !== null && this.config.keyRing.byId(keyId) === undefined;
  }
}
