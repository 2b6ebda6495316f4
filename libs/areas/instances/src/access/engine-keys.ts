import { Inject, Injectable } from '@nestjs/common';
import type { RevisionSpec } from '@slipway/contracts';
import { instanceKey } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { TargetDriver } from '@slipway/target-driver';
import { engineTraitsOf } from '../catalog/target-catalog.js';

/** What an instance's key is derived from. */
interface KeyOwner {
  id: string;
  generation: number;
  key_id: string | null;
}

/** The keys of engines that answer nobody without one. A running engine keeps its key, whatever becomes of the ring. */
@Injectable()
export class EngineKeys {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>) {}

  /** The key of the ring that a generation started now is given its own from; null for an engine that asks for none. */
  idFor(driver: TargetDriver, spec: RevisionSpec): string | null {
    return engineTraitsOf(driver, spec)?.isKeyed ? this.config.keyRing.current.id : null;
  }

  /** For `InstanceSpec`; empty for an engine that asks for none, and for one whose key has left the ring. */
  of({ id, generation, key_id: keyId }: KeyOwner): { instanceKey?: string } {
    if (keyId === null || this.isLost(keyId)) return {};
    return { instanceKey: instanceKey(this.config.keyRing, { instanceId: id, generation, keyId }) };
  }

  /** Whether nobody can speak to an engine any more that was given a key from this one. */
  isLost(keyId: string | null): boolean {
    return keyId !== null && this.config.keyRing.byId(keyId) === undefined;
  }
}
