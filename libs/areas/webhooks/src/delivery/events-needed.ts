import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { KeepsEvents, type NeedsEvents, type ExpiredEvents } from '@slipway/platform-durable/events';
import { FIRST_NEEDED } from './fan-out.query.js';

/** No event is deleted before every webhook that is to have it has had it, or has been given up on. */
@Injectable()
@KeepsEvents('webhooks')
export class EventsNeeded implements NeedsEvents {
  firstNeeded(tx: Tx, old: readonly ExpiredEvents[]): Promise<{ stream: string; sequence: string }[]> {
    return tx.query(FIRST_NEEDED, [JSON.stringify(old)]);
  }
}
