import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { answerFor, ownHeaders } from '../answers/answer-choice.js';
import { isEventStream, type Answer } from '../answers/answer.js';
import { JsonMeter, StreamMeter } from '../answers/meter.js';
import { GatewayError, noCapacity, upstreamFailed, upstreamTimeout, upstreamUnreachable } from '../gateway.errors.js';
import type { Placement, SessionBook } from '../sessions/session-book.js';
import type { GatewaySettings } from '../settings.js';
import type { AttemptClass } from '../telemetry/measurement.js';
import type { Recorder } from '../telemetry/recorder.js';
import type { Instance } from '../upstream/instance.js';
import { supplierHeaders, upstreamHeaders } from '../upstream/request-headers.js';
import { Attempt, type AttemptEvents } from './attempt.js';
import type { Destination } from './destination.js';

export interface ExchangeInput {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** `/v1/…`, without a query. */
  path: string;
  /** As upstream shall read it. */
  body: Buffer;
  model: string;
  isStream: boolean;
  /** The body's top level. */
  fields: Readonly<Record<string, unknown>>;
  destination: Destination;
}

export interface ExchangeParts {
  sessions: SessionBook;
  recorder: Recorder;
  settings: GatewaySettings;
  isRevisionServing: (revisionId: string) => boolean;
}

const RETRY_PAUSE_MS = 50;

/**
 * One client request and its attempts on instances of the drawn revision.
 *
 * States: attempting → (retry → attempting)* → answering → over. A retry happens only while no byte of an answer has gone to
 * the client, on a connection error, 502 or 503. Leaving, by the client or by failure, is possible from every state and final:
 * whatever an abandoned attempt still reports is ignored.
 */
export class Exchange implements AttemptEvents {
  private readonly tried: Instance[] = [];
  private attempt: Attempt | null = null;
  private placement: Placement | undefined;
  private answer: Answer | null = null;
  private isOver = false;
  private stallTimer: NodeJS.Timeout | null = null;
  private retryTimer: NodeJS.Timeout | null = null;

  constructor(
    private readonly input: ExchangeInput,
    private readonly parts: ExchangeParts,
    private readonly onOver: () => void,
  ) {}

  start(): void {
    const { backend, sessionRequest } = this.input.destination;
    backend.enter();
    this.input.response.once('close', () => this.onClientGone());
    const now = Date.now();
    this.placement =
      sessionRequest && this.parts.sessions.place(sessionRequest, backend, this.parts.isRevisionServing, now);
    const instance = sessionRequest ? this.placement?.instance : backend.leastLoaded(now);
    if (!instance) {
      this.refuse(noCapacity(this.input.model));
      return;
    }
    this.dispatch(instance);
  }

  onHead(attempt: Attempt, status: number, headers: IncomingHttpHeaders): void {
    if ((status === 502 || status === 503) && this.mayRetry()) {
      attempt.abandon();
      this.settle(attempt, 'server_error', true);
      this.retry();
      return;
    }
    if (status < 500) attempt.instance.answered();
    const { destination, response, requestId, fields } = this.input;
    const own = ownHeaders(requestId, destination, this.placement);
    attempt.meter = isEventStream(headers) ? new StreamMeter() : new JsonMeter();
    this.answer = answerFor({
      status,
      headers,
      response,
      own,
      path: this.input.path,
      requestId,
      published: destination.published,
      fields,
    });
    this.answer.begin(status, headers);
  }

  onData(attempt: Attempt, chunk: Buffer): void {
    if (this.answer?.data(chunk) !== false) return;
    attempt.pause();
    this.stallTimer = setTimeout(() => this.input.response.destroy(), this.parts.settings.silenceTimeoutMs);
    this.input.response.once('drain', () => {
      if (this.stallTimer) clearTimeout(this.stallTimer);
      attempt.resume();
    });
  }

  onEnd(attempt: Attempt): void {
    this.settle(attempt, classOf(attempt.status), false);
    this.over();
    this.answer?.end();
  }

  onError(attempt: Attempt, error: Error & { code?: string }): void {
    if (this.answer) {
      this.settle(attempt, 'server_error', false);
      this.over();
      this.answer.cut(upstreamFailed());
      return;
    }
    if (error.code === 'UND_ERR_HEADERS_TIMEOUT') {
      this.settle(attempt, 'server_error', false);
      this.refuse(upstreamTimeout());
      return;
    }
    const isRefusedAddress = error.code === 'EGRESS_REFUSED';
    const isRetried = !isRefusedAddress && this.mayRetry();
    this.settle(attempt, 'connect_error', isRetried);
    if (isRetried) this.retry();
    else this.refuse(isRefusedAddress ? upstreamFailed() : upstreamUnreachable());
  }

  private dispatch(instance: Instance): void {
    const { destination, request, requestId, isStream, path, body } = this.input;
    const { authorization } = destination.backend.spec;
    const headers = destination.published
      ? supplierHeaders(isStream, authorization)
      : upstreamHeaders(request.headers, requestId, authorization);
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

  private mayRetry(): boolean {
    return (
      !this.isOver && this.tried.length < this.parts.settings.maxAttempts && this.input.destination.backend.takeRetry()
    );
  }

  private retry(): void {
    const { backend, sessionRequest } = this.input.destination;
    this.attempt = null;
    const now = Date.now();
    const next = backend.leastLoaded(now, this.tried);
    // Trying the same instance again makes sense only after it had time to recover.
    if (!next || this.tried.includes(next)) {
      this.retryTimer = setTimeout(() => this.retryAnywhere(), RETRY_PAUSE_MS * this.tried.length);
      return;
    }
    if (sessionRequest && this.placement)
      this.placement = this.parts.sessions.moved(sessionRequest, this.placement, backend, next, now);
    this.dispatch(next);
  }

  private retryAnywhere(): void {
    if (this.isOver) return;
    const { backend, sessionRequest } = this.input.destination;
    const now = Date.now();
    const next = backend.leastLoaded(now, this.tried);
    if (!next) {
      this.refuse(upstreamUnreachable());
      return;
    }
    const hasMoved = this.placement !== undefined && this.placement.instance !== next;
    if (hasMoved && sessionRequest)
      this.placement = this.parts.sessions.moved(sessionRequest, this.placement as Placement, backend, next, now);
    this.dispatch(next);
  }

  private onClientGone(): void {
    if (this.isOver) return;
    const attempt = this.attempt;
    if (attempt) {
      attempt.abort();
      this.settle(attempt, 'cancelled', false);
    }
    this.over();
  }

  private settle(attempt: Attempt, outcome: AttemptClass, isRetried: boolean): void {
    const now = performance.now();
    attempt.instance.settle(outcome === 'server_error' || outcome === 'connect_error' ? 'failed' : 'fine', Date.now());
    const { backend, published } = this.input.destination;
    const metering = attempt.meter?.read() ?? null;
    const record = {
      class: outcome,
      isRetried,
      e2eMs: now - attempt.startedAt,
      isStream: attempt.meter instanceof StreamMeter,
      ttftMs: metering?.firstTokenAt == null ? null : metering.firstTokenAt - attempt.startedAt,
      metering,
    };
    this.parts.recorder.add(backend.spec.id, backend.spec.tenantId, record);
    // A product's figures are measured per binding, even if it leads to a revision with traffic of its own.
    if (published && published.bindingId !== backend.spec.id)
      this.parts.recorder.add(published.bindingId, published.tenantId, record);
  }

  private refuse(error: GatewayError): void {
    this.over();
    const { response, requestId, destination } = this.input;
    response.writeHead(error.status, {
      'content-type': 'application/json',
      ...error.headers,
      ...ownHeaders(requestId, destination, this.placement),
    });
    response.end(error.body());
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.attempt = null;
    if (this.stallTimer) clearTimeout(this.stallTimer);
    if (this.retryTimer) clearTimeout(this.retryTimer);
    this.input.destination.backend.leave();
    this.onOver();
  }
}

function classOf(status: number): AttemptClass {
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'ok';
}
