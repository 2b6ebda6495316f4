import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KEEP_ALIVE, lineOfUnknownMethod, type RefusedInput } from '@slipway/contracts';
import type { ByteBounds } from '@slipway/platform-bounds';
import { isUnchanged } from '../answers/etag.js';
import { RawJson, rawJson, Reply } from '../answers/reply.js';
import { type RequestContext, runInRequest, type Warning } from '../context/request-context.js';
import { errors } from '../errors/platform.errors.js';
import type { FindEarlierAnswer } from '../routes/keyed-request.js';
import type { SlipwayError } from '../errors/slipway-error.js';
import { registerBodyParsers } from './body-parsers.js';
import { type BrowserPages, wantsPage } from './browser-pages.js';
import { envelopeOf, errorHeaders, sendErrorEnvelope } from './error-answer.js';
import { addRequestChecks } from './request-checks.js';
import { RequestShares } from './request-shares.js';
import { type Entrance, Entrances, type RouteConfig, routeOf, type SlipwayRequest } from './slipway-request.js';
import { PathTable } from './path-table.js';
import type { BodyWatch } from './watched-body.js';

/**
 * Answers requests that Node's parser refused. No request object exists yet, so the answer is written to the socket
 * directly. Node's default would be a bare status line.
 */
export function answerClientError(
  failure: Error & RefusedInput,
  socket: Socket,
  paths: Pick<PathTable, 'refusalOf'>,
): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  // A second answer in the middle of the first would corrupt it.
  const inFlight = (socket as Socket & { _httpMessage?: { headersSent?: boolean } })._httpMessage;
  if (inFlight?.headersSent) {
    socket.destroy();
    return;
  }
  const line = lineOfUnknownMethod(failure);
  socket.end(rawAnswer(line ? paths.refusalOf(line.target) : errorOf(failure.code)));
}

function errorOf(code: string | undefined): SlipwayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errors.request_timeout();
  if (code === 'HPE_HEADER_OVERFLOW') return errors.headers_too_large();
  if (code === 'HPE_INVALID_URL') return errors.path_invalid();
  if (code === 'HPE_INVALID_METHOD')
    return errors.invalid_parameter({
      message: 'The request has no method of HTTP.',
      remediation: 'Send a method such as GET or PATCH, in upper case.',
    });
  return errors.invalid_parameter({
    message: 'The request is not valid HTTP.',
    remediation: 'Send a valid HTTP/1.1 request.',
  });
}

function rawAnswer(error: SlipwayError): string {
  const { headers, body } = answerOf(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function answerOf(error: SlipwayError): { headers: Record<string, string>; body: string } {
  const requestId = newRequestId();
  const body = JSON.stringify(envelopeOf(error, requestId));
  const headers = {
    ...errorHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
  };
  return { headers, body };
}

/** Answers `Expect` with any value except 100-continue, because Node would answer 417 without a body. */
export function answerUnknownExpectations(server: Server): void {
  server.on('checkExpectation', (_request, response) => {
    const error = errors.expectation_failed();
    const { headers, body } = answerOf(error);
    response.writeHead(error.status, headers).end(body);
  });
}

/** Without a listener, Node closes the connection of a `CONNECT` and answers nothing. */
export function refuseConnections(server: Server): void {
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(rawAnswer(errors.method_not_allowed({ headers: { allow: EVERY_METHOD } })));
  });
}

const EVERY_METHOD = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT';

export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the client's own request id if it is valid, else a new one. */
export function requestIdOf(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newRequestId();
}

/** Opens the context of a request before any other code reads the request. */
export function addContextHooks(instance: FastifyInstance): void {
  instance.decorateRequest('slipway');
  instance.addHook('onRequest', (request, reply, done) => {
    const context: RequestContext = { requestId: request.id, warnings: [], route: routeOf(request) };
    (request as SlipwayRequest).slipway = context;
    // Answers belong to one caller, and some hold a secret that is shown once.
    void reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const traceparent = request.headers['traceparent'];
    if (typeof traceparent === 'string' && TRACEPARENT.test(traceparent)) {
      context.traceparent = traceparent;
      void reply.header('traceparent', traceparent);
    }
    // `requireHostHeader` is off, because Node's own 400 has no body.
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(errors.invalid_parameter({ message: 'The Host header is missing.' }));
      return;
    }
    runInRequest(context, done);
  });
  // The body arrives on events of the socket, outside of the context opened above.
  instance.addHook('preValidation', (request, _reply, done) => runInRequest((request as SlipwayRequest).slipway, done));
}

export interface HttpServerOptions {
  /** Bytes of a JSON body; 1 MiB unless given. */
  bodyLimit?: number;
  /** Milliseconds until a whole request must have arrived, including uploads; 5 minutes unless given. */
  requestTimeout?: number;
  /** Bytes of JSON bodies held at a time. */
  heldBytes?: ByteBounds;
  /** Milliseconds until a request that waits for another system lends its tenant's share; 500 unless given. */
  lendAfterMs?: number;
}

/** Enough for four of the largest bodies per token, and eight per tenant. */
const HELD_BYTES: ByteBounds = { process: 256 * 2 ** 20, tenant: 128 * 2 ** 20, token: 64 * 2 ** 20 };

/** Checks whether a request may continue; throws 401, 403 or 429. */
export type GuardHook = (request: SlipwayRequest, reply: FastifyReply) => Promise<void>;

/**
 * Fastify as Nest's HTTP layer, with one shape for all failures and one for all answers. Work that interceptors and
 * global pipes usually do is here and in `@Route`, because each of them costs several promises per request.
 */
export class SlipwayHttpAdapter extends FastifyAdapter {
  private readonly paths: PathTable;
  private readonly entrances: Entrances;
  private guard: GuardHook | undefined;
  private bodyWatch: BodyWatch | undefined;
  private findEarlierAnswer: FindEarlierAnswer | undefined;
  private browserPages: BrowserPages | undefined;

  constructor(options: HttpServerOptions = {}) {
    const entrances = new Entrances();
    const paths = new PathTable();
    super({
      rewriteUrl: (raw: IncomingMessage) => entrances.moved(raw),
      skipMiddie: true,
      multipart: false,
      trustProxy: false,
      bodyLimit: options.bodyLimit ?? 1024 * 1024,
      requestTimeout: options.requestTimeout ?? 300_000,
      // Longer than the idle time of common load balancers, so that they close first.
      keepAliveTimeout: 72_000,
      // Open connections are still served while the server drains.
      return503OnClosing: false,
      http: { requireHostHeader: false, headersTimeout: 20_000, ...KEEP_ALIVE },
      routerOptions: { maxParamLength: 1024 },
      genReqId: requestIdOf,
      clientErrorHandler: (failure: Error, socket: Socket) => answerClientError(failure, socket, paths),
      frameworkErrors: (failure: Error, request: FastifyRequest, reply: FastifyReply) =>
        sendErrorEnvelope(request, reply, failure),
    } as never);
    this.entrances = entrances;
    this.paths = paths;
    const instance = this.getInstance<FastifyInstance>();
    answerUnknownExpectations(instance.server);
    refuseConnections(instance.server);
    const shares = new RequestShares(options.lendAfterMs);
    registerBodyParsers(instance, options.heldBytes ?? HELD_BYTES, {
      shares,
      watch: (request, onEnd) => this.bodyWatch?.(request, onEnd) ?? (() => undefined),
    });
    instance.addHook('onRoute', (route) => {
      this.paths.add(route.method, route.url);
      const spec = (route.config as RouteConfig | undefined)?.slipway;
      if (spec?.maxBodyBytes !== undefined) route.bodyLimit = spec.maxBodyBytes;
    });
    addContextHooks(instance);
    shares.addHooks(instance);
    entrances.addHook(instance);
    instance.addHook('onRequest', (request, reply, done) => this.refuseMethod(request, reply, done));
    instance.addHook('onRequest', async (request, reply) => this.guardRequest(request as SlipwayRequest, reply));
    addRequestChecks(instance, () => this.findEarlierAnswer);
    instance.setErrorHandler((failure, request, reply) => sendErrorEnvelope(request, reply, failure));
    instance.setNotFoundHandler((request, reply) => this.answerUnknownPath(request, reply));
  }

  /**
   * Makes each answer end its connection from now on. A proxy may send a request on an idle connection just when the
   * server closes it, and cannot know whether it may repeat that request.
   */
  endConnections(): void {
    const { server } = this.getInstance<FastifyInstance>();
    server.prependListener('request', (_request, response) => (response.shouldKeepAlive = false));
  }

  /** Installs the guard of all routes that have a scope. Without a guard, these routes refuse every request. */
  setGuard(guard: GuardHook): void {
    this.guard = guard;
  }

  /** Installs what ends bodies under way when their callers lose their access. */
  setBodyWatch(watch: BodyWatch): void {
    this.bodyWatch = watch;
  }

  /** Installs what finds the answers that are stored with an `Idempotency-Key`. */
  setEarlierAnswers(find: FindEarlierAnswer): void {
    this.findEarlierAnswer = find;
  }

  /** Opens another entrance to the api's operations. Call it before `listen`. */
  addEntrance(entrance: Entrance): void {
    this.entrances.add(entrance);
  }

  setPages(pages: BrowserPages): void {
    this.browserPages = pages;
  }

  get pages(): BrowserPages | undefined {
    return this.browserPages;
  }

  /** Refuses a wrong path or method before parameters and body are read: their form depends on the operation. */
  private refuseMethod(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    const { url, method } = request;
    if (!request.is404) {
      // The router found a route with a placeholder, because that of the path itself does not support the method.
      const isWrong = routeOf(request) !== undefined && this.paths.ownMethodsOf(url)?.has(method) === false;
      if (isWrong && method === 'OPTIONS') this.answerOptions(url, reply);
      else done(isWrong ? this.paths.refusalOf(url) : undefined);
      return;
    }
    const hasPath = url === '*' || this.paths.methodsOf(url).length > 0;
    if (hasPath && method === 'OPTIONS') this.answerOptions(url, reply);
    else done(method === 'GET' || method === 'HEAD' ? undefined : this.paths.refusalOf(url));
  }

  private answerOptions(url: string, reply: FastifyReply): void {
    const allow = url === '*' ? EVERY_METHOD : this.paths.allowedOn(url);
    void reply.code(204).header('allow', allow).send();
  }

  private async guardRequest(request: SlipwayRequest, reply: FastifyReply): Promise<void> {
    const route = request.slipway.route;
    if (!route) return;
    if (route.scope === 'public') return;
    if (!this.guard) throw errors.unauthenticated();
    await this.guard(request, reply);
  }

  private async answerUnknownPath(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const path = request.url.split('?', 1)[0]!;
    if (this.browserPages?.has(path)) {
      if (wantsPage(request)) return this.browserPages.answer(request, reply);
      void reply.header('vary', 'accept');
    }
    sendErrorEnvelope(request, reply, this.paths.refusalOf(path, request.method));
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
    if (target.request.method === 'HEAD' && content instanceof Readable) {
      content.destroy();
      // The length of the content is unknown, and that of an empty answer would be wrong.
      content = Readable.from([]);
    }
    const { warnings, route } = (target.request as SlipwayRequest).slipway;
    const isTagged = route?.method === 'GET' && (status ?? target.statusCode) === 200 && isRecord(content);
    if (!isTagged && !(content instanceof RawJson))
      return super.reply(response, withWarnings(content, warnings), status) as never;
    const json = jsonOf(content, warnings);
    if (status !== undefined) target.code(status);
    if (isTagged) {
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

/**
 * Whether content is sent as a JSON object. A row of a repository is an instance of its entity, and is sent like any
 * other object.
 */
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
