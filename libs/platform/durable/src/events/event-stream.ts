import { Injectable, Logger } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import type { EventConnection } from './event-connection.js';
import { EventHub } from './event.hub.js';
import { assertKept, EventList } from './event-list.js';
import { HAS_EVENT, readEvents, type EventSource, type StoredEvent } from './event.store.js';
import { OpenAnswers, type StreamReader } from './open-answers.js';

const PAGE = 200;

export interface StreamRequest extends StreamReader {
  tenantId: string;
  source: EventSource;
  /** Only events of these types. */
  types?: readonly string[];
  /**
   * The last sequence that the client has: its Last-Event-ID, or `after`. If undefined, everything that is kept is
   * sent.
   */
  after?: number;
  /** Called once the stream has ended for any reason, unless `open` has thrown. */
  onClose?(): void;
}

interface OpenStream {
  request: StreamRequest;
  connection: EventConnection;
  cursor: number;
}

interface EventEnvelope {
  type: string;
  operationid: string | null;
  data: { status?: string };
}

/**
 * Serves `text/event-stream`. A stream has three phases:
 * - It catches up: pages from Postgres, each written only after the client has read the previous one. A client gets
 *   events of any size, because the next one waits until few bytes are unread.
 * - It is live: the hub pushes events. A client that falls too far behind is disconnected and resumes.
 * - It is closed: the client left, its access ended, the process stops, or it followed one operation that has ended and
 *   whose events were all sent.
 */
@Injectable()
export class EventStreams {
  private readonly logger = new Logger('events');
  private readonly parsed = new WeakMap<StoredEvent, EventEnvelope>();

  constructor(
    private readonly database: Database,
    private readonly hub: EventHub,
    private readonly list: EventList,
    private readonly answers: OpenAnswers,
  ) {}

  /**
   * Takes the reply over and resolves once the stream is live; from then on it closes by itself.
   * @throws cursor_expired (410) if events right after `after` are no longer kept
   */
  async open(request: StreamRequest): Promise<void> {
    const { source, tenantId, after } = request;
    await this.answers.ready();
    const bounds = await this.list.bounds(tenantId, source.stream);
    if (after) assertKept(after, bounds);
    // A position beyond the end belongs to another stream, or to a database that was restored. It is treated as the
    // end.
    const cursor = Math.min(after ?? bounds.first - 1, bounds.last);
    const stream: OpenStream = { request, connection: this.answers.open(request), cursor };
    stream.connection.onClose(() => request.onClose?.());
    await this.follow(stream, bounds.last).catch((error: unknown) => {
      this.logger.warn(
        `event stream ${source.stream} failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      stream.connection.end();
    });
  }

  /**
   * Whether the stream of an operation would end at once, so that a client which has all events need not connect again.
   * The last events are committed together with the end, so a read after the end shows all of them. A retry makes the
   * operation live again.
   */
  async isTold(operation: NonNullable<EventSource['operation']>, sequence: number): Promise<boolean> {
    if (!(await operation.hasEnded())) return false;
    const [row] = await this.database.read<{ told: boolean }>('system', HAS_EVENT, [operation.id, sequence]);
    return row?.told ?? true;
  }

  private async follow(stream: OpenStream, lastAtStart: number): Promise<void> {
    const { connection, request } = stream;
    await this.catchUp(stream, lastAtStart);
    // Sequences appear in order, so all events from the start have been read, even if the pages show only a part of
    // them.
    stream.cursor = Math.max(stream.cursor, lastAtStart);
    await this.endIfTold(stream);
    if (!connection.isOpen) return;
    const watcher = {
      stream: request.source.stream,
      cursor: stream.cursor,
      deliver: (event: StoredEvent) => this.deliver(stream, event),
    };
    const stop = await this.hub.watch(
      watcher,
      () => connection.end(),
      () => connection.isOpen,
    );
    connection.onClose(stop);
  }

  /**
   * Sends the stored events. A client that reads so slowly that deletion overtakes it is disconnected, and its resume
   * is refused with the reason.
   */
  private async catchUp(stream: OpenStream, lastAtStart: number): Promise<void> {
    const { connection } = stream;
    while (connection.isOpen) {
      if (!(await connection.part(() => this.sendPage(stream, lastAtStart)))) return;
      await connection.drained();
    }
  }

  /** Returns whether there may be more events. A client that has much to read gets the rest later, outside of the share. */
  private async sendPage(stream: OpenStream, lastAtStart: number): Promise<boolean> {
    const { connection, request, cursor: after } = stream;
    if (!connection.isOpen) return false;
    const page = { after, types: request.types, order: 'asc', limit: PAGE } as const;
    const { rows, hasMore } = await readEvents(this.database, { tenantId: request.tenantId }, request.source, page);
    if (after > 0 && after < lastAtStart)
      await this.list.assertNoGap(request.tenantId, request.source.stream, after, rows[0]);
    for (const row of rows) {
      if (connection.isBehind) return true;
      this.send(stream, row, this.parse(row));
    }
    return hasMore;
  }

  private deliver(stream: OpenStream, event: StoredEvent): void {
    const { source, types } = stream.request;
    const envelope = this.parse(event);
    if (source.operation && envelope.operationid !== source.operation.id) return;
    if (!types || types.includes(envelope.type)) this.send(stream, event, envelope);
    stream.cursor = Number(event.sequence);
    if (source.operation && envelope.type === 'operation.status_changed') {
      void this.endIfTold(stream).catch(() => undefined);
    }
  }

  private send(stream: OpenStream, event: StoredEvent, envelope: EventEnvelope): void {
    stream.cursor = Number(event.sequence);
    stream.connection.event(stream.cursor, envelope.type, event.json);
  }

  private async endIfTold(stream: OpenStream): Promise<void> {
    const { operation } = stream.request.source;
    if (operation && (await this.isTold(operation, stream.cursor))) stream.connection.end();
  }

  /** One event object is sent to every watcher of its stream, so it is parsed once. */
  private parse(event: StoredEvent): EventEnvelope {
    const known = this.parsed.get(event);
    if (known) return known;
    const envelope = JSON.parse(event.json) as EventEnvelope;
    this.parsed.set(event, envelope);
    return envelope;
  }
}
