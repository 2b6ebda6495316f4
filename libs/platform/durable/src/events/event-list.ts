import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { RequestCoalescer, rawPage, type PageRequest, type RawJson } from '@slipway/platform-http';
import { typesOf, type EventQueryDto } from './event.dto.js';
import { EVENT_BOUNDS, readEvents, type EventPage, type EventSource, type StoredEvent } from './event.store.js';
import { eventErrors } from './event.errors.js';

/**
 * The first and the last sequence that a stream holds. If it holds no events, `first` is the sequence of the next
 * event.
 */
export interface StreamBounds {
  first: number;
  last: number;
}

/** Pages of events, by tenant: row-level security hides the streams of other tenants. */
@Injectable()
export class EventList {
  private readonly coalescing = new RequestCoalescer();

  constructor(private readonly database: Database) {}

  /** @throws cursor_expired (410) if events right after the requested position are no longer kept */
  page(tenantId: string, source: EventSource, query: EventQueryDto, page: PageRequest): Promise<RawJson> {
    const after = page.cursor ? Number(page.cursor[0]) : query.after;
    const asked = { after, order: query.order, types: typesOf(query), limit: page.limit };
    const question = [source.stream, source.operation?.id, after, asked.order, query.type, asked.limit];
    return this.coalescing.answer(tenantId, question, () => this.read(tenantId, source, asked));
  }

  private async read(tenantId: string, source: EventSource, asked: EventPage): Promise<RawJson> {
    const { after, order } = asked;
    // Start from the first event that is kept: before it the index still contains deleted events until a vacuum.
    const start = order === 'asc' ? (after ?? (await this.bounds(tenantId, source.stream)).first - 1) : after;
    const page = await readEvents(this.database, { tenantId }, source, { ...asked, after: start });
    if (order === 'asc' && after) await this.assertNoGap(tenantId, source.stream, after, page.rows[0]);
    return rawPage(page, (row) => [Number(row.sequence)]);
  }

  async bounds(tenantId: string, stream: string): Promise<StreamBounds> {
    const row = await this.database.find<{ first: string | null; last: string | null }>(
      { tenantId },
      EVENT_BOUNDS,
      stream,
    );
    const last = Number(row?.last ?? 0);
    return { first: row?.first ? Number(row.first) : last + 1, last };
  }

  /**
   * Checks for a page that was read after `after`, given its first row, that no event in between is deleted. It checks
   * after the read of the page, because deletion continues meanwhile, and not at all if the page contains the very next
   * event.
   * @throws cursor_expired (410)
   */
  async assertNoGap(tenantId: string, stream: string, after: number, next: StoredEvent | undefined): Promise<void> {
    if (Number(next?.sequence) !== after + 1) assertKept(after, await this.bounds(tenantId, stream));
  }
}

/** A reader at `after` needs `after + 1` next. */
export function assertKept(after: number, bounds: StreamBounds): void {
  if (bounds.first > after + 1) throw eventErrors.cursor_expired({ extra: { first_sequence: bounds.first } });
}
