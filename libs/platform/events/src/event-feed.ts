import { createParamDecorator, Injectable, Optional, type ExecutionContext } from '@nestjs/common';
import { RequestGuard } from '@slipway/platform-auth';
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
import type { EventQueryDto } from './event.dto.js';
import { EventList } from './event-list.js';
import { EventStreams } from './event-stream.js';
import type { EventSource } from './event.store.js';

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
    // A worker builds the same modules and answers nobody.
    @Optional() private readonly guard?: RequestGuard,
  ) {}

  /**
   * @returns the page, or undefined when the answer has become a stream
   * @throws cursor_expired (410), invalid_parameter (400) for a Last-Event-ID that is none
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
    const { principal } = client.request.slipway;
    await this.streams.open({
      reply: client.reply,
      tenantId,
      source,
      type: query.type,
      after: resumed ?? query.after,
      tokenId: principal?.actor.type === 'token' ? principal.actor.id : undefined,
      stillAllowed: () => this.isAllowed(client.request),
    });
    return undefined;
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
