import { setTimeout as sleep } from 'node:timers/promises';
import { retryAfterMs, timeLimit, withoutTrailingSlashes } from '@slipway/contracts';
import { collect } from '@slipway/platform-bounds';
import pLimit from 'p-limit';
import { Agent, buildConnector, errors, type Dispatcher } from 'undici';
import { CallGate } from './call-gate.js';
import type { KubeCluster, ClusterTls } from './cluster.js';
import { ApiError, UnreachableError, type ApiCall } from './errors.js';
import type { Status } from './objects.js';
import { RetryBudget } from './retry-budget.js';

export interface TransportOptions {
  /** Limit of one call, including its waiting time and its tries. */
  callTimeoutMs?: number;
  /** Limit of one answer. */
  maxAnswerBytes?: number;
  /** Limit of calls that wait while 20 are in flight. */
  maxWaiting?: number;
  /** Divides the pauses after failures, for tests. */
  shorterPauses?: number;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  /** The call, for errors. */
  call: ApiCall;
  timeoutMs?: number;
  /** After failures, the call waits until it may be sent or the signal fires. Without it, it fails like the last one. */
  patience?: AbortSignal;
}

const CONNECTIONS = 16;
const IN_FLIGHT = 20;
const MAX_WAITING = 5_000;
/** One for each watch or followed log. */
const STREAM_CONNECTIONS = 512;
const CALL_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Shorter than the limit of load balancers in front of API servers, so that we close first. */
const IDLE_MS = 30_000;
/** A page of 500 pods is about 8 MiB. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 256 * 1024;
const MAX_TRIES = 4;
const LONGEST_RETRY_MS = 11_000;

/**
 * Connections to one API server. Calls and streams have an Agent each, which is kept: a watch must not use the
 * connection of a call, and an Agent for each request leaks its sockets.
 */
export class Transport {
  private readonly calls: Agent;
  private readonly streams: Agent;
  private readonly limit = pLimit(IN_FLIGHT);
  private readonly origin: string;
  private readonly prefix: string;
  private readonly options: Required<Omit<TransportOptions, 'shorterPauses'>>;
  /** Decides when calls may follow failures. */
  readonly gate: CallGate;
  private isClosed = false;

  constructor(
    private readonly cluster: KubeCluster,
    options: TransportOptions = {},
  ) {
    const url = new URL(cluster.server);
    this.origin = url.origin;
    this.prefix = withoutTrailingSlashes(url.pathname);
    this.options = {
      callTimeoutMs: options.callTimeoutMs ?? CALL_TIMEOUT_MS,
      maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      maxWaiting: options.maxWaiting ?? MAX_WAITING,
    };
    this.gate = new CallGate(cluster.server, RetryBudget.share(cluster.server, options.shorterPauses));
    const settings: Agent.Options = {
      connect: connectorOf(cluster),
      keepAliveTimeout: IDLE_MS,
      headersTimeout: this.options.callTimeoutMs,
      pipelining: 1,
    };
    this.calls = new Agent({ ...settings, connections: CONNECTIONS, bodyTimeout: this.options.callTimeoutMs });
    // The reader of a stream limits its silence.
    this.streams = new Agent({ ...settings, connections: STREAM_CONNECTIONS, bodyTimeout: 0 });
  }

  /**
   * Makes one call within one time limit, from waiting for a free connection to the last byte of the answer. Within
   * this limit it repeats the call after refusals that name a time, and with a new token after the old one expired.
   *
   * @throws ApiError if the server refuses
   * @throws UnreachableError if no usable answer arrives
   * @throws KubeConfigError if the credentials cannot be read
   */
  async json(request: ApiRequest): Promise<unknown> {
    if (this.limit.pendingCount >= this.options.maxWaiting)
      throw this.unreachable('BUSY', `${this.limit.pendingCount} calls already wait for a response`);
    const pass = request.patience && { isRetry: await this.gate.opened(request.call, request.patience) };
    const { signal, stop } = timeLimit(request.timeoutMs ?? this.options.callTimeoutMs);
    return this.limit(() =>
      this.withTries(request, signal, pass, async () => {
        const answer = await this.send(this.calls, request, signal);
        return this.parse(await this.read(answer.body, this.options.maxAnswerBytes));
      }),
    ).finally(stop);
  }

  /**
   * An answer without an end. Its reader ends it with `signal`.
   *
   * @throws ApiError, UnreachableError, KubeConfigError; reading it may throw any error of a broken connection
   */
  async stream(request: ApiRequest, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const pass = request.patience && { isRetry: await this.gate.opened(request.call, request.patience) };
    return this.withTries(request, signal, pass, async () => (await this.send(this.streams, request, signal)).body);
  }

  get callTimeoutMs(): number {
    return this.options.callTimeoutMs;
  }

  /** Converts an error in the middle of an answer. */
  unreachableBy(error: unknown): UnreachableError {
    if (error instanceof UnreachableError) return error;
    const code = this.isClosed ? 'CLOSED' : codeOf(error);
    return this.unreachable(code, EXPLANATIONS[code] ?? explanationOf(error), error);
  }

  unreachable(code: string, explanation: string, cause?: unknown): UnreachableError {
    return new UnreachableError(this.cluster.server, code, explanation, cause);
  }

  /** Ends calls in flight as `CLOSED`. */
  async close(): Promise<void> {
    if (!this.isClosed) RetryBudget.release(this.cluster.server);
    this.isClosed = true;
    await Promise.all([this.calls.destroy(), this.streams.destroy()]);
  }

  /** @param pass of the first try, if it has one already */
  private async withTries<T>(
    request: ApiRequest,
    signal: AbortSignal,
    pass: { isRetry: boolean } | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    const { call } = request;
    let last: unknown;
    for (let tries = 1; ; tries += 1) {
      let isRetry: boolean;
      try {
        isRetry = tries === 1 && pass ? pass.isRetry : this.gate.pass(call);
      } catch (refusal) {
        // The server's own answer to this call is more useful than that to another one.
        throw last ?? refusal;
      }
      const wasRefused = this.gate.isIdentityRefused;
      try {
        const answer = await run();
        this.gate.succeeded(call, isRetry);
        return answer;
      } catch (error) {
        // The caller gave up, which shows nothing about the server.
        if (!request.patience?.aborted && !this.isClosed) this.gate.failed(call, error, isRetry);
        const isExpired = error instanceof ApiError && error.status === 401;
        if (isExpired) this.cluster.forget();
        last = error;
        if (isExpired && !wasRefused && tries === 1) continue;
        if (tries >= MAX_TRIES || this.isClosed || !mayRepeat(error, request, tries)) throw error;
        const waitMs = this.gate.waitMs(call);
        if (waitMs > LONGEST_RETRY_MS) throw error;
        // A timer may fire a little early, and a call that is sent too early is refused.
        for (let leftMs = waitMs; leftMs > 0; leftMs = this.gate.waitMs(call))
          // The time is over. The server's answer is more useful than the time-out.
          await sleep(Math.ceil(leftMs), undefined, { signal }).catch(() => Promise.reject(error));
      }
    }
  }

  /** Returns a 2xx answer and throws anything else. */
  private async send(agent: Agent, request: ApiRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const authorization = await this.cluster.authorization();
    const answer = await this.dispatch(agent, request, authorization, signal);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return answer;
    const text = await this.read(answer.body, MAX_REFUSAL_BYTES);
    const status = statusIn(text);
    const waitMs = retryAfterMs(answer.headers['retry-after'], answer.headers['date'], Date.now());
    const seconds = waitMs === undefined ? status?.details?.retryAfterSeconds : waitMs / 1_000;
    throw new ApiError(request.call, answer.statusCode, status, seconds);
  }

  private async dispatch(agent: Agent, request: ApiRequest, authorization: string | undefined, signal: AbortSignal) {
    try {
      return await agent.request({
        origin: this.origin,
        path: `${this.prefix}${request.path}${queryOf(request.query)}`,
        method: request.method,
        headers: {
          accept: 'application/json',
          'user-agent': 'slipway',
          ...(authorization === undefined ? {} : { authorization }),
          ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      });
    } catch (error) {
      throw this.unreachableBy(error);
    }
  }

  private async read(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
    const tooLarge = (): UnreachableError =>
      this.unreachable('TOO_LARGE', `its response is longer than ${maxBytes} bytes and was discarded`);
    try {
      return (await collect(body, maxBytes, tooLarge)).toString('utf8');
    } catch (error) {
      throw this.unreachableBy(error);
    }
  }

  private parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.unreachable(
        'INVALID_ANSWER',
        'its response is not JSON; check that `server` is the address of an API server',
      );
    }
  }
}

/** Whether the same request may be sent again within one call. */
function mayRepeat(error: unknown, request: ApiRequest, tries: number): boolean {
  // A server that names a time has not begun the call.
  if (error instanceof ApiError)
    return error.retryAfterSeconds !== undefined && (error.status === 429 || error.status >= 500);
  // The other side may close a kept connection just when it is used again. A POST may have had its effect.
  return error instanceof UnreachableError && CUT.has(error.code) && request.method !== 'POST' && tries === 1;
}

const CUT = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const EXPLANATIONS: Record<string, string> = {
  TIMEOUT: 'it did not respond in time',
  CLOSED: 'this client was closed',
  ECONNREFUSED: 'nothing listens at that address',
  ECONNRESET: 'the connection was closed unexpectedly',
  UND_ERR_SOCKET: 'the connection was closed unexpectedly',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out; check address, routes and firewalls',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'its name cannot be resolved at the moment',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by a trusted authority; set `certificate-authority`',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by a trusted authority; set `certificate-authority`',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by a trusted authority; set `certificate-authority`',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; set `tls-server-name`',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

function codeOf(error: unknown): string {
  if (error instanceof errors.RequestAbortedError || error instanceof errors.HeadersTimeoutError) return 'TIMEOUT';
  if (error instanceof errors.BodyTimeoutError) return 'TIMEOUT';
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === 'TimeoutError' || name === 'AbortError') return 'TIMEOUT';
  return typeof code === 'string' ? code : 'UNKNOWN';
}

const explanationOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function statusIn(text: string): Status | undefined {
  try {
    const parsed = JSON.parse(text) as Status | null;
    return parsed?.kind === 'Status' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function queryOf(query: ApiRequest['query'] = {}): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '' && value !== false) set.set(name, String(value));
  return set.size === 0 ? '' : `?${set}`;
}

/** Connects with the current certificates, because they are replaced on disk while the process runs. */
function connectorOf(cluster: KubeCluster): buildConnector.connector {
  let made: { of: ClusterTls; connect: buildConnector.connector } | undefined;
  return (options, callback) => {
    const tls = cluster.tls;
    // Kept while nothing has changed, because it remembers TLS sessions.
    if (made?.of !== tls) made = { of: tls, connect: buildConnector({ ...tls, timeout: CONNECT_TIMEOUT_MS }) };
    made.connect(options, callback);
  };
}
