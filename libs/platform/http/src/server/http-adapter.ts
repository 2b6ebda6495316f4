import type { IncomingMessage } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ByteBounds } from '@slipway/platform-bounds';
import { isUnchanged } from '../answers/etag.js';
import { RawJson, rawJson, Reply } from '../answers/reply.js';
import { errors } from '../errors/platform.errors.js';
import type { Warning } from '../context/request-context.js';
import { wantsPage, type BrowserPages } from './browser-pages.js';
import { answerClientError, answerUnknownExpectations } from './client-error.js';
import { Entrances, type Entrance } from './entrances.js';
import { sendErrorEnvelope } from './error-answer.js';
import { registerBodyParsers } from './json-body.js';
import { addContextHooks, addRequestChecks, requestIdOf } from './request-hooks.js';
import type { RouteConfig, SlipwayRequest } from './slipway-request.js';

export interface HttpServerOptions {
  /** Bytes of a JSON body; 1 MiB unless given. */
  bodyLimit?: number;
  /** Milliseconds for a whole request to arrive, uploads included; 5 minutes unless given. */
  requestTimeout?: number;
  /** Bytes of JSON bodies held at a time. */
  heldBytes?: ByteBounds;
}

/** Four of the largest bodies of one token, twice as many of a tenant. */
const HELD_BYTES: ByteBounds = { process: 256 * 2 ** 20, tenant: 128 * 2 ** 20, token: 64 * 2 ** 20 };

/** Decides whether a request may go on; raises 401, 403 or 429. */
export type GuardHook = (request: SlipwayRequest, reply: FastifyReply) => Promise<void>;

/**
 * Which methods a path supports, so that a wrong method is a 405 with `Allow` instead of a 404. The router itself only
 * knows one tree per method and cannot be asked.
 */
class PathTable {
  private readonly rows = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(method: string | string[], path: string): void {
    const row = this.rows.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    for (const name of [method].flat()) row.methods.add(name);
    this.rows.set(path, row);
  }

  /** @param url as the client sent it; answers an empty list for an unknown path */
  methodsOf(url: string): string[] {
    const path = url.split('?', 1)[0]!;
    const methods = new Set<string>();
    for (const row of this.rows.values()) {
      if (row.pattern.test(path)) for (const method of row.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}

/**
 * Fastify as Nest's HTTP layer, with one shape for every failure and for every answer. What interceptors and global pipes
 * would do stands here and in `@Route`, because each of them costs every request several promises.
 */
export class SlipwayHttpAdapter extends FastifyAdapter {
  private readonly paths = new PathTable();
  private readonly entrances: Entrances;
  private guard: GuardHook | undefined;
  private browserPages: BrowserPages | undefined;

  constructor(options: HttpServerOptions = {}) {
    const entrances = new Entrances();
    super({
      rewriteUrl: (raw: IncomingMessage) => entrances.moved(raw),
      skipMiddie: true,
      multipart: false,
      trustProxy: false,
      bodyLimit: options.bodyLimit ?? 1024 * 1024,
      requestTimeout: options.requestTimeout ?? 300_000,
      // Longer than the idle time of the usual load balancers, so that they close first.
      keepAliveTimeout: 72_000,
      // An old connection is served to its end while the server drains.
      return503OnClosing: false,
      http: { requireHostHeader: false, headersTimeout: 20_000 },
      routerOptions: { maxParamLength: 1024 },
      genReqId: requestIdOf,
      clientErrorHandler: answerClientError,
      frameworkErrors: (failure: Error, request: FastifyRequest, reply: FastifyReply) =>
        sendErrorEnvelope(request, reply, failure),
    } as never);
    this.entrances = entrances;
    const instance = this.getInstance<FastifyInstance>();
    answerUnknownExpectations(instance.server);
    registerBodyParsers(instance, options.heldBytes ?? HELD_BYTES);
    instance.addHook('onRoute', (route) => {
      this.paths.add(route.method, route.url);
      const spec = (route.config as RouteConfig | undefined)?.slipway;
      if (spec?.maxBodyBytes !== undefined) route.bodyLimit = spec.maxBodyBytes;
    });
    addContextHooks(instance);
    entrances.addHook(instance);
    instance.addHook('onRequest', async (request, reply) => this.guardRequest(request as SlipwayRequest, reply));
    addRequestChecks(instance);
    instance.setErrorHandler((failure, request, reply) => sendErrorEnvelope(request, reply, failure));
    instance.setNotFoundHandler((request, reply) => this.answerUnknownPath(request, reply));
  }

  /** Installs the guard of all routes that carry a scope. Without one, such routes refuse every request. */
  setGuard(guard: GuardHook): void {
    this.guard = guard;
  }

  /** Opens another way to the api's operations. Before `listen`. */
  addEntrance(entrance: Entrance): void {
    this.entrances.add(entrance);
  }

  setPages(pages: BrowserPages): void {
    this.browserPages = pages;
  }

  get pages(): BrowserPages | undefined {
    return this.browserPages;
  }

  private async guardRequest(request: SlipwayRequest, reply: FastifyReply): Promise<void> {
    const route = request.slipway.route;
    if (!route || route.scope === 'public') return;
    if (!this.guard) throw errors.unauthenticated();
    await this.guard(request, reply);
  }

  private async answerUnknownPath(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const path = request.url.split('?', 1)[0]!;
    if (wantsPage(request) && this.browserPages?.has(path)) return this.browserPages.answer(request, reply);
    const methods = this.paths.methodsOf(path);
    const isWrongMethod = methods.length > 0 && !methods.includes(request.method);
    const refusal = isWrongMethod
      ? errors.method_not_allowed({ headers: { allow: methods.join(', ') } })
      : errors.not_found();
    sendErrorEnvelope(request, reply, refusal);
    return reply;
  }

  // Nest would install its own parsers and handlers over those of the constructor.
  override registerParserMiddleware(): void {}
  override setErrorHandler(): never {
    return this.getInstance() as never;
  }
  override setNotFoundHandler(): never {
    return this.getInstance() as never;
  }

  /** The end of every handler: applies `reply`, `rawJson` and the request's warnings. */
  override reply(response: never, body: unknown, statusCode?: number): never {
    const target = response as FastifyReply;
    let content = body;
    let status = statusCode;
    if (body instanceof Reply) {
      target.headers(body.headers);
      status = body.status;
      content = body.body;
    }
    const { warnings, route } = (target.request as SlipwayRequest).slipway;
    const isHot = route?.hot === true && (status ?? target.statusCode) === 200 && isRecord(content);
    if (!isHot && !(content instanceof RawJson))
      return super.reply(response, withWarnings(content, warnings), status) as never;
    const json = jsonOf(content, warnings);
    if (status !== undefined) target.code(status);
    if (isHot) {
      const own = target.getHeader('etag');
      const etag = typeof own === 'string' ? own : json.etag;
      target.header('etag', etag);
      if (isUnchanged(target.request.headers['if-none-match'], etag)) return target.code(304).send() as never;
    }
    target.header('content-type', 'application/json; charset=utf-8');
    return target.send(json.text) as never;
  }
}

function jsonOf(content: unknown, warnings: Warning[]): RawJson {
  if (!(content instanceof RawJson)) return rawJson(JSON.stringify(withWarnings(content, warnings)));
  return warnings.length === 0 ? content : rawJson(spliceWarnings(content.text, warnings));
}

/** Whether content is sent as a JSON object. A row of a repository is an instance of its entity, and an answer like any other. */
function isRecord(content: unknown): content is object {
  if (typeof content !== 'object' || content === null) return false;
  return !Array.isArray(content) && !Buffer.isBuffer(content) && !('pipe' in content);
}

function withWarnings(content: unknown, warnings: Warning[]): unknown {
  return warnings.length === 0 || !isRecord(content) ? content : { ...content, warnings };
}

function spliceWarnings(text: string, warnings: Warning[]): string {
  const end = text.lastIndexOf('}');
  const separator = /\{\s*$/.test(text.slice(0, end)) ? '' : ',';
  return `${text.slice(0, end)}${separator}"warnings":${JSON.stringify(warnings)}}`;
}
