import { Readable } from 'node:stream';
import { createParamDecorator, Injectable, Optional, type ExecutionContext } from '@nestjs/common';
import { isAccessRefusal, RequestGuard } from '@slipway/platform-http/auth';
import {
  errors,
  prefersEvents,
  reply,
  SlipwayError,
  type PageRequest,
  type RawJson,
  type Reply,
  type SlipwayReply,
  type SlipwayRequest,
} from '@slipway/platform-http';
import { EVENT_STREAM_HEADERS, type EventConnection } from './event-connection.js';
import { typesOf, type EventQueryDto } from './event.dto.js';
import { EventList } from './event-list.js';
import { EventStreams } from './event-stream.js';
import type { EventSource } from './event.store.js';
import { OpenAnswers, type StreamReader } from './open-answers.js';
import { OpenStreamLimits } from './open-stream-limits.js';

/** The request and the reply of a client whose answer may become a stream. */
export interface FeedClient {
  request: SlipwayRequest;
  reply: SlipwayReply;
}

/** Injects the request and the reply into a handler: `@Client() client: FeedClient`. */
export const Client = createParamDecorator((_data: unknown, context: ExecutionContext): FeedClient => {
  const http = context.switchToHttp();
  return { request: http.getRequest<SlipwayRequest>(), reply: http.getResponse<SlipwayReply>() };
});

/** Events over HTTP, as a list or, if the client accepts `text/event-stream`, as a stream. */
@Injectable()
export class EventFeed {
  constructor(
    private readonly list: EventList,
    private readonly streams: EventStreams,
    private readonly limits: OpenStreamLimits,
    private readonly answers: OpenAnswers,
    // A worker builds the same modules but answers no requests.
    @Optional() private readonly guard?: RequestGuard,
  ) {}

  /**
   * Answers with a page of events or with a stream.
   * @returns the page, or undefined when the answer has become a stream. For `HEAD`, the head of a stream
   * @throws cursor_expired (410); invalid_parameter (400) if the Last-Event-ID is not one; quota_exceeded (429) if the
   * caller's token or tenant has its maximum of open streams
   */
  async answer(
    source: EventSource,
    query: EventQueryDto,
    page: PageRequest,
    client: FeedClient,
  ): Promise<Reply<RawJson | Readable | undefined> | undefined> {
    const tenantId = tenantOf(client.request);
    if (!prefersEvents(client.request))
      return reply(200, await this.list.page(tenantId, source, query, page), { vary: 'accept' });
    const resumed = lastEventId(client.request);
    // In the specification of EventSource, 204 makes a client not connect again.
    if (source.operation && resumed !== undefined && (await this.streams.isTold(source.operation, resumed)))
      return reply(204, undefined);
    if (isHead(client)) return streamHead();
    const giveBack = this.reserveStream(client);
    try {
      await this.streams.open({
        tenantId,
        source,
        types: typesOf(query),
        after: resumed ?? query.after,
        ...this.readerOf(client),
        onClose: giveBack,
      });
    } catch (error) {
      giveBack();
      throw error;
    }
    return undefined;
  }

  /**
   * Streams data that is not stored as events, under the same rules. It counts as one of the caller's open streams and
   * has heartbeats. It disconnects slow readers, and ends with the connection and with the caller's access.
   * @param open is called before the reply is taken over, with a signal that is aborted when the stream has ended. An
   * error that it throws is answered like that of any request. Its items are sent until it ends or fails, followed by
   * an event `end` with the reason
   * @returns undefined when the answer has become a stream. For `HEAD`, the head of a stream
   * @throws quota_exceeded (429)
   */
  async stream(
    client: FeedClient,
    open: (signal: AbortSignal) => Promise<AsyncIterable<{ type: string; data: unknown }>>,
  ): Promise<Reply<Readable> | undefined> {
    const giveBack = this.reserveStream(client);
    const ended = new AbortController();
    try {
      await this.answers.ready();
      const source = await open(ended.signal);
      if (isHead(client)) {
        ended.abort();
        giveBack();
        return streamHead();
      }
      const connection = this.answers.open(this.readerOf(client));
      connection.onClose(() => {
        ended.abort();
        giveBack();
      });
      // It is not awaited, because the request is over as soon as its answer has become a stream.
      void send(connection, source);
      return undefined;
    } catch (error) {
      ended.abort();
      giveBack();
      throw error;
    }
  }

  /**
   * Reserves a stream for an answer that is no event stream but takes as long as its reader does.
   * @returns a function that gives the stream back
   * @throws quota_exceeded (429)
   */
  reserveStream({ request }: FeedClient): () => void {
    const { principal } = request.slipway;
    if (!principal) throw errors.unauthenticated();
    return this.limits.take(principal);
  }

  private readerOf({ request, reply }: FeedClient): StreamReader {
    const { principal } = request.slipway;
    return {
      reply,
      tokenId: principal?.actor.type === 'token' ? principal.actor.id : undefined,
      stillAllowed: () => this.isAllowed(request),
    };
  }

  private async isAllowed(request: SlipwayRequest): Promise<boolean> {
    const { route, tenantId } = request.slipway;
    try {
      const principal = await this.guard?.authenticate(request);
      return (
        principal !== undefined &&
        principal.tenantId === tenantId &&
        (!route || route.scope === 'public' || principal.scopes.has(route.scope))
      );
    } catch (refusal) {
      return !isAccessRefusal(refusal);
    }
  }
}

function isHead({ request }: FeedClient): boolean {
  return request.method === 'HEAD';
}

function streamHead(): Reply<Readable> {
  return reply(200, Readable.from([]), EVENT_STREAM_HEADERS);
}

async function send(
  connection: EventConnection,
  source: AsyncIterable<{ type: string; data: unknown }>,
): Promise<void> {
  let reason = 'complete';
  try {
    for await (const { type, data } of source) {
      connection.event(undefined, type, JSON.stringify(data));
      await connection.drained();
      if (!connection.isOpen) return;
    }
  } catch (error) {
    reason = error instanceof SlipwayError ? error.code : 'internal';
  }
  connection.event(undefined, 'end', JSON.stringify({ reason }));
  connection.end();
}

function lastEventId(request: SlipwayRequest): number | undefined {
  const given = (request.headers as Record<string, string | string[] | undefined>)['last-event-id'];
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  const message = 'Last-Event-ID must be the id of an event of this stream';
  throw errors.invalid_parameter({ message, details: [{ field: 'Last-Event-ID', code: 'type', message }] });
}

function tenantOf(request: SlipwayRequest): string {
  const { tenantId } = request.slipway;
  if (tenantId === undefined) throw errors.unauthenticated();
  return tenantId;
}
