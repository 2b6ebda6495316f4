import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import type { Principal } from '@slipway/platform-http';
import { quotaExceeded } from '../quotas/index.js';

/** The number of event streams that each token and each tenant has open in this process. */
@Injectable()
export class OpenStreamLimits {
  private readonly ofActors = new Map<string, number>();
  private readonly ofTenants = new Map<string, number>();

  constructor(@Inject(CONFIG) private readonly config: QuotaConfig) {}

  /**
   * Reserves a stream for this caller.
   * @returns a function that gives it back; calling it again changes nothing
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

/** A count of 0 has no entry, so that a caller who came once is not remembered forever. */
function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = countOf(counts, key) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
