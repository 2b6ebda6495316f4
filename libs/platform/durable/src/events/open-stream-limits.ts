import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import type { Principal } from '@slipway/platform-http';
import { quotaExceeded } from '../quotas/index.js';

/** How many event streams each token and each tenant has open in this process. */
@Injectable()
export class OpenStreamLimits {
  private readonly ofActors = new Map<string, number>();
  private readonly ofTenants = new Map<string, number>();

  constructor(@Inject(CONFIG) private readonly config: QuotaConfig) {}

  /**
   * Takes a place for a stream of this caller.
   * @returns gives the place back; calling it again changes nothing
   * @throws quota_exceeded (429)
   */
  take({ actor, tenantId, tenantName }: Principal): () => void {
    const { event_streams, event_streams_per_token } = quotasOf(this.config, tenantName);
    const key = `${tenantId}/${actor.type}:${actor.id}`;
    if (countOf(this.ofActors, key) >= event_streams_per_token)
      throw quotaExceeded('event_streams_per_token', event_streams_per_token);
    if (countOf(this.ofTenants, tenantId) >= event_streams) throw quotaExceeded('event_streams', event_streams);
    add(this.ofActors, key, 1);
    add(this.ofTenants, tenantId, 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      add(this.ofActors, key, -1);
      add(this.ofTenants, tenantId, -1);
    };
  }
}

function countOf(counts: Map<string, number>, key: string): number {
  return counts.get(key) ?? 0;
}

/** A count of 0 is no entry: whoever has come once shall not be remembered for ever. */
function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = countOf(counts, key) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
