import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Answer } from './answer.js';
import { BatchEngine } from './batch-engine.js';
import { answerChat, answerText } from './completions.js';
import { answerEmbeddings } from './embeddings.js';
import { Exchange } from './exchange.js';
import { DEFAULT_OPTIONS, type SimulatorOptions } from './flags.js';
import { iterationSettings } from './iteration-settings.js';
import { Metrics } from './metrics.js';
import {
  ApiError,
  injectedFailure,
  internalFailure,
  invalidParameter,
  missingParameter,
  modelNotFound,
  notReady,
  unknownUrl,
  wrongKey,
  wrongMethod,
} from './openai.errors.js';
import { randomFrom } from './random.js';
import { readJsonObject, type JsonObject } from './request-body.js';

type Endpoint = { name: string; answer: (exchange: Exchange, body: JsonObject) => Promise<void> };

const INFERENCE: ReadonlyMap<string, Endpoint> = new Map([
  ['/v1/chat/completions', { name: 'chat_completions', answer: answerChat }],
  ['/v1/completions', { name: 'completions', answer: answerText }],
  ['/v1/embeddings', { name: 'embeddings', answer: answerEmbeddings }],
]);

const MODELS_PATH = '/v1/models';

export interface Simulator {
  readonly port: number;
  /** `http://host:port`, without `/v1`. */
  readonly url: string;
  /** Stops accepting connections, and resolves when requests in flight have ended. */
  stop(): Promise<void>;
}

/**
 * Listens, and answers until it is stopped.
 * @param given options that differ from the defaults
 * @param onCrash called if `crashAfter` or `crashAfterMs` requires the process to exit
 * @throws the error of `listen`, for example EADDRINUSE
 */
export async function startSimulator(
  given: Partial<SimulatorOptions>,
  onCrash: () => void = () => process.exit(1),
): Promise<Simulator> {
  const service = new Service({ ...DEFAULT_OPTIONS, ...given }, onCrash);
  await service.listen();
  return service;
}

class Service implements Simulator {
  private readonly metrics = new Metrics();
  private readonly answer: Answer;
  private readonly server: Server;
  private readonly random: () => number;
  private readonly engine?: BatchEngine;
  /** Connections that never sent a request. Node does not count them as idle, so they would delay a stop. */
  private readonly unused = new Set<Socket>();
  private readonly createdAt = Math.floor(Date.now() / 1000);
  private readonly pid = String(process.pid);
  private readyAt = Infinity;
  private answered = 0;
  private inFlight = 0;
  private isStopping = false;
  private crashTimer?: NodeJS.Timeout;

  constructor(
    private readonly options: SimulatorOptions,
    private readonly onCrash: () => void,
  ) {
    this.answer = new Answer(options.model);
    const seed = options.seed ?? Math.random() * 2 ** 32;
    this.random = randomFrom(seed);
    const iteration = iterationSettings(options, seed);
    if (iteration) this.engine = new BatchEngine(iteration);
    // Callers keep connections in pools. With an idle time longer than theirs, only they close a connection, so no
    // request is lost on a connection that this side is closing.
    this.server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => this.handle(request, response));
    this.server.on('connection', (socket) => {
      this.unused.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    const { host } = this.options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ port: this.options.port, host: this.options.host, backlog: 4096 }, () => resolve());
    });
    if (!this.options.neverReady) this.readyAt = performance.now() + this.options.startupMs;
    if (this.options.crashAfterMs !== undefined) this.crashTimer = setTimeout(this.onCrash, this.options.crashAfterMs);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.crashTimer);
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.unused) socket.destroy();
    await closed;
  }

  private get isReady(): boolean {
    return !this.isStopping && performance.now() >= this.readyAt;
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    this.unused.delete(request.socket);
    const exchange = new Exchange(response, this.options, this.metrics, this.answer, this.engine);
    response.setHeader('x-sim-pid', this.pid);
    response.setHeader('x-request-id', request.headers['x-request-id'] ?? exchange.newId('req'));
    if (this.isStopping) response.setHeader('connection', 'close');
    response.on('close', () => {
      // Otherwise a kept-alive connection that was busy when the server closed would keep the process running until it
      // times out.
      if (this.isStopping) setImmediate(() => this.server.closeIdleConnections());
    });
    this.route(request, exchange).catch((error: unknown) => this.fail(exchange, error));
  }

  private async route(request: IncomingMessage, exchange: Exchange): Promise<void> {
    const method = request.method ?? 'GET';
    const path = (request.url ?? '/').split('?', 1)[0]!;
    const endpoint = INFERENCE.get(path);
    if (endpoint) return this.infer(endpoint, request, exchange);

    const isModel = path === MODELS_PATH || path.startsWith(`${MODELS_PATH}/`);
    if (!isModel && path !== '/health' && path !== '/metrics') throw unknownUrl(method, path);
    if (method !== 'GET' && method !== 'HEAD') throw wrongMethod(method, path, 'GET');
    if (path === '/health') return this.health(exchange);
    if (path === '/metrics')
      return exchange.sendText(
        200,
        this.metrics.text(this.isReady, this.engine),
        'text/plain; version=0.0.4; charset=utf-8',
      );
    this.admit(request);
    this.models(path, exchange);
  }

  private health(exchange: Exchange): void {
    if (this.isReady) return exchange.send(200, { status: 'ok', model: this.options.model });
    exchange.send(503, { status: this.isStopping ? 'stopping' : 'starting', model: this.options.model });
  }

  private models(path: string, exchange: Exchange): void {
    const { model } = this.options;
    const entry = { id: model, object: 'model', created: this.createdAt, owned_by: 'inference-sim' };
    if (path === MODELS_PATH) return exchange.send(200, { object: 'list', data: [entry] });
    const id = decoded(path.slice(MODELS_PATH.length + 1));
    if (id !== model) throw modelNotFound(id);
    exchange.send(200, entry);
  }

  private async infer(endpoint: Endpoint, request: IncomingMessage, exchange: Exchange): Promise<void> {
    if (request.method !== 'POST') throw wrongMethod(request.method ?? 'GET', request.url ?? '/', 'POST');
    this.metrics.arrived();
    exchange.slowDown(this.inFlight);
    this.inFlight += 1;
    exchange.response.on('close', () => this.left(endpoint.name, exchange));
    this.admit(request);
    // Decided on arrival, before the body is read, so that a seed fails the same positions in the order of arrival.
    if (this.random() < this.options.errorRate) throw injectedFailure();

    const body = await readJsonObject(request, this.options.maxBodyBytes);
    const model = body['model'];
    if (model === undefined) throw missingParameter('model');
    if (typeof model !== 'string') throw invalidParameter('model', 'a string');
    if (model !== this.options.model) throw modelNotFound(model);
    await endpoint.answer(exchange, body);
  }

  private left(endpoint: string, exchange: Exchange): void {
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    this.metrics.left(endpoint, exchange.response.statusCode, seconds, exchange.response.writableFinished);
    this.answered += 1;
    this.inFlight -= 1;
    if (this.answered === this.options.crashAfter) this.onCrash();
  }

  /**
   * The same order as in the real service: authentication comes before readiness. A stopping server still serves
   * requests that it has accepted.
   */
  private admit(request: IncomingMessage): void {
    const { apiKey } = this.options;
    const { authorization } = request.headers;
    if (apiKey !== undefined && authorization !== `Bearer ${apiKey}`) throw wrongKey(authorization !== undefined);
    if (performance.now() < this.readyAt) throw notReady();
  }

  private fail(exchange: Exchange, error: unknown): void {
    if (exchange.response.destroyed) return;
    if (!(error instanceof ApiError))
      process.stderr.write(`inference-sim: ${(error as Error).stack ?? String(error)}\n`);
    const answer = error instanceof ApiError ? error : internalFailure();
    if (!exchange.response.headersSent)
      return exchange.sendText(answer.status, answer.body(), 'application/json', answer.headers);
    exchange.response.destroy(); // in the middle of a stream, only a broken connection informs the client
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
