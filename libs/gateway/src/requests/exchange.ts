import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { HeldBytes } from '@slipway/platform-bounds';
import { answerFor, ownHeaders } from '../answers/answer-choice.js';
import type { ClientAnswer } from '../answers/answer.js';
import { isEventStream, supplierHeaders, upstreamHeaders } from '../headers.js';
import { JsonMeter, StreamMeter } from '../answers/meter.js';
import { GatewayError, noCapacity, upstreamFailed, upstreamTimeout, upstreamUnreachable } from '../gateway.errors.js';
import type { SessionAssignment, SessionBook } from '../sessions/session-book.js';
import type { GatewaySettings } from '../settings.js';
import type { AttemptClass } from '../telemetry/measurement.js';
import type { Recorder } from '../telemetry/recorder.js';
import type { UsageBook, UsageRecord } from '../telemetry/usage.js';
import type { Token } from '../tokens/token-book.js';
import type { BackendRequest } from '../upstream/backend.js';
import type { Instance } from '../upstream/instance.js';
import { Attempt, type AttemptEvents } from './attempt.js';
import type { RequestDestination } from './destination.js';

/** One admitted request and its destination. */
export interface ExchangeInput {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** `/v1/…`, without a query. */
  path: string;
  /** The body as upstream gets it. */
  body: Buffer;
  model: string;
  isStream: boolean;
  /** Names of the body's top-level members. */
  parameters: readonly string[];
  /** The memory that this request takes; its owner gives it back. */
  bytes: HeldBytes;
  destination: RequestDestination;
  token: Token;
}

/** Parts that all exchanges of a gateway share. */
export interface ExchangeParts {
  sessions: SessionBook;
  recorder: Recorder;
  usage: UsageBook;
  settings: GatewaySettings;
  isRevisionServing: (revisionId: string) => boolean;
}

const RETRY_PAUSE_MS = 50;

/**
 * One client request and its attempts on instances of the drawn revision.
 *
 * States: attempting → (retry → attempting)* → answering → over. A retry happens only while no byte of an answer has
 * reached the client: on a connection error, 502, 503, the 401 of an engine that has its own key, or if the instance's
 * node is lost. The client's disconnect or a failure ends it from every state, and finally: later reports of an
 * abandoned attempt are ignored.
 */
export class Exchange implements AttemptEvents, BackendRequest {
  private readonly tried: Instance[] = [];
  private attempt: Attempt | null = null;
  private placement: SessionAssignment | undefined;
  private answer: ClientAnswer | null = null;
  private isSessionSettled = false;
  private isOver = false;
  private stallTimer: NodeJS.Timeout | null = null;
  private retryTimer: NodeJS.Timeout | null = null;
  private readonly startedAt = performance.now();
  /** Sums over all attempts. */
  private readonly sums = { upstreamFaults: 0, tokensIn: 0, tokensOut: 0, inFlightSum: 0 };

  constructor(
    private readonly input: ExchangeInput,
    private readonly parts: ExchangeParts,
    private readonly onOver: () => void,
  ) {}

  start(): void {
    const { backend, sessionRequest } = this.input.destination;
    backend.enter(this);
    this.input.response.once('close', () => this.onClientGone());
    const now = performance.now();
    this.placement =
      sessionRequest && this.parts.sessions.assign(sessionRequest, backend, this.parts.isRevisionServing, now);
    const instance = sessionRequest ? this.placement?.instance : backend.leastLoaded(now);
    if (instance) this.dispatch(instance);
    else this.refuse(noCapacity(this.input.model));
  }

  onHead(attempt: Attempt, status: number, headers: IncomingHttpHeaders): void {
    if ((status === 502 || status === 503) && this.mayRetry(false)) {
      attempt.abandon();
      this.settle(attempt, 'server_error', true);
      this.retry();
      return;
    }
    if (status === 401 && attempt.instance.authorization !== null) {
      this.onStranger(attempt);
      return;
    }
    if (status < 500) {
      attempt.instance.answered();
      this.settleSession(true);
    }
    const { destination, response, requestId, parameters, bytes } = this.input;
    const own = ownHeaders(requestId, destination, this.placement);
    attempt.meter = isEventStream(headers) ? new StreamMeter() : new JsonMeter();
    this.answer = answerFor({
      status,
      headers,
      response,
      own,
      path: this.input.path,
      requestId,
      destination,
      model: this.input.model,
      parameters,
      bytes,
    });
    this.answer.begin(status, headers);
    if (attempt.instance.isLost) this.onInstanceLost(attempt.instance);
  }

  /** The server that has the address now does not know the key of our engine. Its answer reaches no client. */
  private onStranger(attempt: Attempt): void {
    attempt.abandon();
    attempt.instance.noteTaken();
    const isRetried = this.mayRetry(true);
    this.settle(attempt, 'connect_error', isRetried);
    if (isRetried) this.retry();
    else this.refuse(upstreamUnreachable());
  }

  onData(attempt: Attempt, chunk: Buffer): void {
    if (this.take(attempt, chunk) !== false) return;
    attempt.pause();
    this.stallTimer = setTimeout(() => this.input.response.destroy(), this.parts.settings.silenceTimeoutMs);
    this.input.response.once('drain', () => {
      if (this.stallTimer) clearTimeout(this.stallTimer);
      attempt.resume();
    });
  }

  private take(attempt: Attempt, chunk: Buffer): boolean | undefined {
    try {
      return this.answer?.data(chunk);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      attempt.abort(error.message);
      const outcome = attempt.status < 400 ? 'server_error' : classOf(attempt.status);
      this.settle(attempt, outcome, false);
      this.over(outcome);
      this.answer?.cut(error);
      return undefined;
    }
  }

  onEnd(attempt: Attempt): void {
    const outcome = classOf(attempt.status);
    this.settle(attempt, outcome, false);
    this.over(outcome);
    this.answer?.end();
  }

  onError(attempt: Attempt, error: Error & { code?: string }): void {
    if (this.answer) {
      this.settle(attempt, 'server_error', false);
      this.over('server_error');
      this.answer.cut(upstreamFailed());
      return;
    }
    if (error.code === 'UND_ERR_HEADERS_TIMEOUT') {
      this.settle(attempt, 'server_error', false);
      this.refuse(upstreamTimeout());
      return;
    }
    const isRefusedAddress = error.code === 'EGRESS_REFUSED';
    const isRetried = !isRefusedAddress && this.mayRetry(true);
    this.settle(attempt, 'connect_error', isRetried);
    if (isRetried) this.retry();
    else this.refuse(isRefusedAddress ? upstreamFailed() : upstreamUnreachable());
  }

  /** Treats the loss as a broken connection if another instance is ready. Otherwise the request waits for an answer. */
  onInstanceLost(instance: Instance): void {
    const { attempt } = this;
    const { backend } = this.input.destination;
    if (attempt?.instance !== instance) return;
    // An answer that has begun may continue: a node that no longer reports to the cluster may well serve.
    if (this.answer) return attempt.doubt(this.parts.settings.lostSilenceMs, () => !backend.isServing);
    if (!backend.isServing || !this.mayRetry(true)) return;
    attempt.abort('its instance is lost');
    this.settle(attempt, 'connect_error', true);
    this.retry();
  }

  private dispatch(instance: Instance): void {
    const { destination, request, requestId, isStream, path, body } = this.input;
    const authorization = instance.authorization ?? destination.backend.spec.authorization;
    const headers = destination.published
      ? supplierHeaders(isStream, authorization)
      : upstreamHeaders(request.headers, requestId, authorization, this.parts.settings.passedHeaders);
    this.tried.push(instance);
    this.attempt = new Attempt(instance, this);
    const options: Dispatcher.DispatchOptions = {
      origin: instance.origin,
      path: instance.prefix + path,
      method: 'POST',
      headers,
      body,
    };
    instance.dispatch(options, this.attempt);
  }

  /**
   * A server that dies loses all its requests at once. So a retry on another sound instance does not use the retry
   * allowance. If everything fails, no instance is sound.
   */
  private mayRetry(isLost: boolean): boolean {
    if (this.isOver || this.tried.length >= this.parts.settings.maxAttempts) return false;
    const { backend } = this.input.destination;
    return (isLost && backend.hasSoundOne(performance.now(), this.tried)) || backend.takeRetry();
  }

  private retry(): void {
    this.attempt = null;
    const next = this.input.destination.backend.leastLoaded(performance.now(), this.tried);
    // Another attempt on the same instance makes sense only after it had time to recover.
    if (!next || this.tried.includes(next))
      this.retryTimer = setTimeout(() => this.retryAnywhere(), RETRY_PAUSE_MS * this.tried.length);
    else this.move(next);
  }

  private retryAnywhere(): void {
    if (this.isOver) return;
    const next = this.input.destination.backend.leastLoaded(performance.now(), this.tried);
    if (next) this.move(next);
    else this.refuse(upstreamUnreachable());
  }

  private move(next: Instance): void {
    const { backend, sessionRequest } = this.input.destination;
    if (sessionRequest && this.placement && this.placement.instance !== next)
      this.placement = this.parts.sessions.moved(sessionRequest, this.placement, backend, next, performance.now());
    this.dispatch(next);
  }

  private onClientGone(): void {
    if (this.isOver) return;
    const attempt = this.attempt;
    if (attempt) {
      attempt.abort('the client left');
      this.settle(attempt, 'cancelled', false);
    }
    this.over('cancelled');
  }

  private settle(attempt: Attempt, outcome: AttemptClass, isRetried: boolean): void {
    const now = performance.now();
    const isFault = outcome === 'server_error' || outcome === 'connect_error';
    const { backend, published } = this.input.destination;
    const metering = attempt.meter?.read() ?? null;
    const record = {
      class: outcome,
      isRetried,
      e2eMs: now - attempt.startedAt,
      isStream: attempt.meter instanceof StreamMeter,
      ttftMs: metering?.firstTokenAt == null ? null : metering.firstTokenAt - attempt.startedAt,
      metering,
      load: attempt.load(now),
      instances: backend.size,
    };
    attempt.instance.settle(isFault ? 'failed' : 'fine', performance.now());
    if (isFault) this.sums.upstreamFaults += 1;
    this.sums.inFlightSum += record.load.mean;
    this.sums.tokensIn += metering?.tokensIn ?? 0;
    this.sums.tokensOut += metering?.tokensOut ?? 0;
    this.parts.recorder.add(backend.spec.id, backend.spec.tenantId, record);
    // A product's metrics are kept per binding, even if the binding leads to a revision with traffic of its own.
    if (published && published.bindingId !== backend.spec.id)
      this.parts.recorder.add(published.bindingId, published.tenantId, record);
  }

  private refuse(error: GatewayError): void {
    this.over(classOf(error.status));
    const { response, requestId, destination } = this.input;
    response.writeHead(error.status, {
      'content-type': 'application/json',
      ...error.headers,
      ...ownHeaders(requestId, destination, this.placement),
    });
    response.end(error.body());
  }

  private settleSession(isServed: boolean): void {
    const { sessionRequest } = this.input.destination;
    if (this.isSessionSettled || !sessionRequest || !this.placement) return;
    this.isSessionSettled = true;
    this.parts.sessions.settled(sessionRequest, this.placement, isServed, performance.now());
  }

  private noteUsage(outcome: UsageRecord['outcome']): void {
    const { destination, token } = this.input;
    this.parts.usage.add({
      tenantId: token.tenantId,
      tokenId: token.id,
      revisionId: destination.backend.spec.id,
      instanceId: this.tried.at(-1)?.id ?? null,
      slug: destination.published?.slug ?? null,
      outcome,
      durationMs: performance.now() - this.startedAt,
      attempts: this.tried.length,
      ...this.sums,
    });
  }

  private over(outcome: UsageRecord['outcome']): void {
    if (this.isOver) return;
    this.isOver = true;
    this.noteUsage(outcome);
    this.settleSession(false);
    this.attempt = null;
    if (this.stallTimer) clearTimeout(this.stallTimer);
    if (this.retryTimer) clearTimeout(this.retryTimer);
    this.input.destination.backend.leave(this);
    this.onOver();
  }
}

function classOf(status: number): 'ok' | 'client_error' | 'server_error' {
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'ok';
}
