import { createHmac } from 'node:crypto';
import type { KeyRing } from '@slipway/platform-config/load';

export interface InstanceKeyOf {
  instanceId: string;
  generation: number;
  /** Which key of the ring it was derived from at the start: a running engine keeps its key while the ring turns. */
  keyId: string;
}

/**
 * The key of one life of an engine: 43 characters of base64url. Worker and gateways derive the same one, so it is stored nowhere.
 * @throws RangeError where the ring has no such key
 */
export function instanceKey(
  keyRing: Pick<KeyRing, 'derive'>,
  { instanceId, generation, keyId }: InstanceKeyOf,
): string {
  const key = keyRing.derive('slipway engine key', keyId);
  return createHmac('sha256', key).update(`${instanceId}/${generation}`).digest('base64url');
}
