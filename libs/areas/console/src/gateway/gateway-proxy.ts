import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Agent, type Dispatcher } from 'undici';
import { CONFIG, type Config } from '@slipway/platform-config';
import { errors, type Principal, SlipwayError, type SlipwayRequest } from '@slipway/platform-http';
import { RequestGuard, withAccess } from '@slipway/platform-http/auth';
import { ConsoleEntrance } from '../console-entrance.js';
import { accessOfSession } from '../sessions/console-session.query.js';
import type { ConsoleSession } from '../sessions/console-sessions.js';
import { PlaygroundTokens } from './playground-tokens.js';

const PREFIX = '/console/gateway';
/** An answer that is not streamed begins only when it is complete. */
const HEADERS_TIMEOUT_MS = 600_000;
/** Between two chunks of an answer. */
const SILENCE_MS = 300_000;
const MAX_CONNECTIONS = 256;
/** Concurrent requests of one token: a person has one playground, or a few. */
const MAX_REQUESTS_OF_TOKEN = 16;

/** Headers that describe the browser or the console, or that belong to one connection, are not sent to the gateway. */
const KEPT_FROM_GATEWAY =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|cookie|authorization|origin|referer|user-agent|forwarded|x-csrf-token|x-real-ip|accept-encoding|accept-language|priority|dnt|(proxy|sec|x-forwarded)-.*)$/;
const KEPT_FROM_BROWSER =
  /^(connection|keep-alive|trailer|transfer-encoding|upgrade|set-cookie|clear-site-data|location|refresh|(proxy|access-control)-.*|content-security-policy.*)$/;
/** Characters that a request target may have (RFC 3986). No honest client sends others. */
const GATEWAY_PATH = /^\/v1\/[\w.~!$&'()*+,;=:@%/?-]+$/;

/**
 * Connects the playground with the inference gateway: it sends the session's token instead of the cookie, and only
 * allows inference.
 */
@Injectable()
export class GatewayProxy implements OnModuleDestroy {
  private readonly origin: string;
  private readonly base: string;
  private readonly inFlight = new Map<string, number>();
  private readonly agent = new Agent({ connections: MAX_CONNECTIONS, connect: { timeout: 5_000 } });

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'console' | 'gateway'>,
    private readonly entrance: ConsoleEntrance,
    private readonly guard: RequestGuard,
    private readonly playground: PlaygroundTokens,
  ) {
    const { origin, pathname } = new URL(config.console.gatewayUrl);
    this.origin = origin;
    this.base = pathname.replace(/\/$/, '');
  }

  async onModuleDestroy(): Promise<void> {
    await this.agent.destroy();
  }

  /** In a scope of its own, so that bodies pass unparsed. */
  serve(instance: FastifyInstance): void {
    void instance.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      scope.route({
        method: ['GET', 'POST'],
        url: `${PREFIX}/v1/*`,
        exposeHeadRoute: false,
        handler: (request, reply) => this.forward(request as SlipwayRequest, reply),
      });
    });
  }

  private async forward(request: SlipwayRequest, reply: FastifyReply): Promise<unknown> {
    const path = gatewayPath((request.raw.url as string).slice(PREFIX.length));
    const { session, who } = await this.identify(request);
    // No guard of a route sets it here.
    request.slipway.principal = who;
    const max = this.config.gateway.limits.maxBodyBytes;
    if (Number(request.headers['content-length'] ?? 0) > max)
      throw errors.body_too_large({ extra: { max_bytes: max } });
    this.countRequest(who.actor.id, reply);
    const leaving = new AbortController();
    reply.raw.once('close', () => leaving.abort());
    // An answer that has begun is sent to its end.
    const identify = async (): Promise<Principal> => (await this.identify(request)).who;
    const unwatch = this.guard.watch(who, identify, (refusal) => leaving.abort(refusal));
    let answer: Dispatcher.ResponseData;
    try {
      const bearer = session.method === 'hosted' ? await this.playground.of(who) : session.credentials.bearer;
      answer = await this.ask(path, request, leaving.signal, bearer);
    } finally {
      unwatch();
    }
    return this.passOn(answer, who, reply);
  }

  private passOn({ statusCode, headers, body }: Dispatcher.ResponseData, who: Principal, reply: FastifyReply): unknown {
    if (statusCode === 401) this.playground.forget(who);
    return reply
      .code(statusCode)
      .headers({
        ...without(headers, KEPT_FROM_BROWSER),
        // The output of a model must never become a page of the console's origin.
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      })
      .send(body);
  }

  /**
   * Checked here too, so that a session with a revoked token does not count as a wrong guess of this address at the
   * gateway.
   */
  private async identify(request: SlipwayRequest): Promise<{ session: ConsoleSession; who: Principal }> {
    const session = await this.entrance.sessionOf(request, request.headers.cookie);
    const identity = await this.guard.identify(session.credentials.bearer, request);
    return { session, who: withAccess(identity, [accessOfSession(session.id)]) };
  }

  /** Counts the request until its answer has been sent. @throws rate_limited */
  private countRequest(token: string, { raw }: FastifyReply): void {
    const count = this.inFlight.get(token) ?? 0;
    if (count >= MAX_REQUESTS_OF_TOKEN)
      throw errors.rate_limited({
        message: `The playground allows at most ${MAX_REQUESTS_OF_TOKEN} concurrent requests per token.`,
      });
    this.inFlight.set(token, count + 1);
    raw.once('close', () => {
      const left = (this.inFlight.get(token) as number) - 1;
      if (left > 0) this.inFlight.set(token, left);
      else this.inFlight.delete(token);
    });
  }

  private async ask(
    path: string,
    { method, headers, body, id }: SlipwayRequest,
    signal: AbortSignal,
    bearer: string,
  ): Promise<Dispatcher.ResponseData> {
    // The client's connection outlives a request that is ended, because its answer says so.
    const sent = method === 'POST' ? copyOf(body as Readable) : null;
    try {
      return await this.agent.request({
        origin: this.origin,
        path: this.base + path,
        method: method as Dispatcher.HttpMethod,
        headers: { ...without(headers, KEPT_FROM_GATEWAY), authorization: `Bearer ${bearer}`, 'x-request-id': id },
        body: sent,
        signal,
        headersTimeout: HEADERS_TIMEOUT_MS,
        bodyTimeout: SILENCE_MS,
      });
    } catch (cause) {
      sent?.destroy();
      if (signal.reason instanceof SlipwayError) throw signal.reason;
      throw errors.unavailable({ message: 'The inference gateway cannot be reached.', cause });
    }
  }
}

function copyOf(body: Readable): Readable {
  const copy = new PassThrough();
  copy.on('error', () => undefined);
  body.once('error', (error) => copy.destroy(error));
  body.once('close', () => {
    if (!body.readableEnded) copy.destroy();
  });
  return body.pipe(copy);
}

function without(headers: IncomingHttpHeaders, kept: RegExp): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && !kept.test(name));
  return Object.fromEntries(passed) as Record<string, string | string[]>;
}

/**
 * Returns the path of a playground's request at the gateway: only its inference paths, however a path is written.
 * @param rest path and query after the proxy's own prefix
 * @throws not_found, path_invalid
 */
export function gatewayPath(rest: string): string {
  if (!GATEWAY_PATH.test(rest)) throw errors.not_found();
  const path = rest.split('?', 1)[0] as string;
  const hasDots = decoded(path)
    .split(/[/\\]/)
    .some((segment) => segment === '.' || segment === '..');
  if (hasDots) throw errors.not_found();
  return rest;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw errors.path_invalid();
  }
}
