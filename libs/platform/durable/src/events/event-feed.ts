import { createParamDecorator, Injectable, Optional, type ExecutionContext } from '@nestjs/common';
import { RequestGuard } from '@slipway/platform-http/auth';
import {
  errors,
  reply,
  SlipwayError,
  type PageRequest,
  type RawJson,
  type Reply,
  type SlipwayReply,
  type SlipwayRequest,
} from '@slipway/platform-http';
import type { EventConnection } from './event-connection.js';
import type { EventQueryDto } from './event.dto.js';
import { EventList } from './event-list.js';
import { EventStreams } from './event-stream.js';
import type { EventSource } from './event.store.js';
import { OpenAnswers, type StreamReader } from './open-answers.js';
import { OpenStreamLimits } from './open-stream-limits.js';

/** The two ends of a request whose answer may become a stream. */
export interface FeedClient {
  request: SlipwayRequest;
  reply: SlipwayReply;
}

/** Hands a handler its request and reply: `@Client() client: FeedClient`. */
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
    // A worker builds the same modules and answers nobody.
    @Optional() private readonly guard?: RequestGuard,
  ) {}

  /**
   * @returns the page, or undefined when the answer has become a stream
   * @throws cursor_expired (410), invalid_parameter (400) for a Last-Event-ID that is none, quota_exceeded (429) where the caller's
   * token or tenant has as many streams open as it may
   */
  async answer(
    source: EventSource,
    query: EventQueryDto,
    page: PageRequest,
    client: FeedClient,
  ): Promise<Reply<RawJson | undefined> | undefined> {
    const tenantId = tenantOf(client.request);
    if (!wantsStream(client.request))
      return reply(200, await this.list.page(tenantId, source, query, page), { vary: 'accept' });
    const resumed = lastEventId(client.request);
    // 204 is how the specification of EventSource tells a client not to connect again.
    if (source.operation && resumed !== undefined && (await this.streams.isTold(source.operation, resumed)))
      return reply(204, undefined);
    const giveBack = this.reserveStream(client);
    try {
      await this.streams.open({
        tenantId,
        source,
        type: query.type,
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
   * Streams what is not stored as events, under the same rules: it counts as one of the caller's open streams, has heartbeats, lets no reader
   * lag, and ends with the connection and with the caller's access.
   * @param open called before the reply is taken over, with a signal that fires when the stream has ended; what it throws is answered as
   * to any request. What it resolves to is sent until it ends or fails, and then an event `end` that says which
   * @throws quota_exceeded (429)
   */
  async stream(
    client: FeedClient,
    open: (signal: AbortSignal) => Promise<AsyncIterable<{ type: string; data: unknown }>>,
  ): Promise<void> {
    const giveBack = this.reserveStream(client);
    const ended = new AbortController();
    try {
      await this.answers.ready();
      const source = await open(ended.signal);
      const connection = this.answers.open(this.readerOf(client));
      connection.onClose(() => {
        ended.abort();
        giveBack();
      });
      // Not awaited: the request is over as soon as its answer has become a stream.
      void send(connection, source);
    } catch (error) {
      ended.abort();
      giveBack();
      throw error;
    }
  }

  /**
   * For an answer that is no stream and takes as long as its reader does.
   * @returns gives the stream back
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
      return !(refusal instanceof SlipwayError && (refusal.status === 401 || refusal.status === 403));
    }
  }
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

function wantsStream(request: SlipwayRequest): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.accept ?? '');
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
