import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { answerFor, ownHeaders } from '../answers/answer-choice.js';
import { AnswerJudge } from '../answers/answer-judge.js';
import { HEAD_AFTER_MS, sendGatewayError, type ClientAnswer } from '../answers/answer.js';
import { requestedWaitMs, supplierHeaders, upstreamHeaders } from '../headers.js';
import { GatewayError, noCapacity, upstreamFailed, upstreamUnreachable } from '../gateway.errors.js';
import type { SessionAssignment } from '../sessions/session-book.js';
import { callerOf, type AttemptRecord } from '../telemetry/measurement.js';
import type { WaitingRequest } from '../telemetry/recorder.js';
import type { UsageRecord } from '../telemetry/usage.js';
import type { BackendRequest } from '../upstream/backend.js';
import type { Instance } from '../upstream/instance.js';
import { Attempt, judged, noteConfiguration, type AttemptEvents } from './attempt.js';
import { statsKeysOf } from './destination.js';
import type { ExchangeInput, ExchangeParts } from './exchange-input.js';
import {
  isDecidedByHead,
  isPassedOn,
  isRefusedForNow,
  outcomeOf,
  outcomeOfError,
  outcomeOfLeaving,
  outcomeOfRefusal,
  outcomeOfStop,
  requestOutcomeOf,
  type JudgedAnswer,
  type Outcome,
} from './outcome.js';
import { isAboutOption, UsageChunkFilter, withoutOption } from './usage-option.js';

const RETRY_PAUSE_MS = 50;
/**
 * An answer is judged before its first byte leaves: one of at most this length as a whole, a stream by its first event.
 * An error then has its true status, and may be retried.
 */
const MAX_JUDGED_FIRST = 16 * 1024;

/**
 * One client request and its attempts on instances of the drawn revision.
 *
 * States: attempting → (retry → attempting)* → answering → over. A retry happens only while no byte of an answer has
 * reached the client; `outcome.ts` decides after which answers. The client's disconnect or a failure ends it from every
 * state, and finally: later reports of an abandoned attempt are ignored.
 */
export class Exchange implements AttemptEvents, BackendRequest {
  private readonly tried: Instance[] = [];
  private attempt: Attempt | null = null;
  private placement: SessionAssignment | undefined;
  private answer: ClientAnswer | null = null;
  /** The beginning of an answer; null once it is passed on. */
  private judgedFirst: Buffer[] | null = null;
  private headers: IncomingHttpHeaders = {};
  private hasUsageOption: boolean;
  private usageFilter: UsageChunkFilter | null = null;
  /** The judge's part of the request's bytes. */
  private judgeBytes = 0;
  private isSessionSettled = false;
  private isOver = false;
  private stallTimer: NodeJS.Timeout | null = null;
  /** Runs while the head of a stream waits for its first event. */
  private headTimer: NodeJS.Timeout | null = null;
  private retryTimer: NodeJS.Timeout | null = null;
  private readonly startedAt = performance.now();
  private body: Buffer;
  private readonly waiting: WaitingRequest;
  /** The engine's id of the request. Unique, unlike the client's, which may repeat. */
  private readonly engineRequestId: string;
  /** Sums over all attempts. */
  private readonly sums = { upstreamFaults: 0, tokensIn: 0, tokensOut: 0, inFlightSum: 0 };

  constructor(
    private readonly input: ExchangeInput,
    private readonly parts: ExchangeParts,
    private readonly onOver: () => void,
  ) {
    const { destination, request, requestId, token } = input;
    const caller = callerOf(token.id, destination.sessionRequest?.session.key);
    this.waiting = { keys: statsKeysOf(destination), caller, startedAt: this.startedAt };
    this.body = input.body;
    this.hasUsageOption = input.hasUsageOption;
    this.engineRequestId = request.headers['x-request-id'] === requestId ? randomUUID() : requestId;
  }

  start(): void {
    const { backend, sessionRequest } = this.input.destination;
    backend.enter(this);
    this.parts.recorder.waiting.add(this.waiting);
    this.input.response.once('close', () => this.onClientGone());
    const now = performance.now();
    this.placement =
      sessionRequest && this.parts.sessions.assign(sessionRequest, backend, this.parts.isRevisionServing, now);
    const instance = sessionRequest ? this.placement?.instance : backend.leastLoaded(now);
    this.noteArrival();
    if (instance) this.dispatch(instance);
    else this.refuseWithoutInstance(noCapacity(this.input.model));
  }

  /** The connection exists, which may have taken seconds. Nothing was sent yet. */
  onStart(attempt: Attempt): void {
    const ended = this.input.tokenEnd();
    if (!ended) return;
    attempt.abort('the token of the request has ended');
    this.settle(attempt, outcomeOfRefusal(ended), false);
    this.refuse(ended, 'client_error');
  }

  onHead(attempt: Attempt, status: number, headers: IncomingHttpHeaders): void {
    attempt.judge = new AnswerJudge(this.input.path, status, headers);
    this.headers = headers;
    if (isRefusedForNow(status)) this.input.destination.backend.pause(requestedWaitMs(headers), performance.now());
    if (isDecidedByHead(status)) {
      attempt.abandon();
      this.conclude(attempt, outcomeOf(judged(attempt)));
      return;
    }
    this.answer = this.answerWith(status);
    this.usageFilter = this.hasUsageOption && attempt.judge.isStream ? new UsageChunkFilter() : null;
    const { isStream } = attempt.judge;
    // The answer of a published product decides by itself when its stream begins.
    const isJudgedFirst = isPassedOn(status) && !(isStream && this.input.destination.published);
    if (isJudgedFirst) this.judgedFirst = [];
    else this.answer.begin(status, headers);
    if (isJudgedFirst && isStream) this.headTimer = setTimeout(() => this.passOn(attempt), HEAD_AFTER_MS);
    if (attempt.instance.isLost) this.onInstanceLost(attempt.instance);
  }

  onFirstToken(attempt: Attempt): void {
    this.parts.recorder.waiting.delete(this.waiting);
    attempt.instance.answered();
    this.settleSession(true);
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
      this.countJudge(attempt.judge?.heldBytes ?? 0);
      if (!this.judgedFirst)
        return this.usageFilter?.isIdle && attempt.judge?.isWithoutUsage ? this.answer?.data(chunk) : this.send(chunk);
      this.judgedFirst.push(chunk);
      const { judge } = attempt;
      if (judge?.faultSoFar && this.parts.recorder.waiting.has(this.waiting)) {
        attempt.abort('its first event is an error');
        this.conclude(attempt, outcomeOf(judged(attempt)));
        return undefined;
      }
      const size = this.judgedFirst.reduce((sum, { length }) => sum + length, 0);
      return (size <= MAX_JUDGED_FIRST && !judge?.hasBegun) || this.passOn(attempt);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      attempt.abort(error.message);
      this.conclude(attempt, outcomeOfStop(error, outcomeOf(judged(attempt, true))), true);
      return undefined;
    }
  }

  private clearHeadTimer(): void {
    if (this.headTimer) clearTimeout(this.headTimer);
    this.headTimer = null;
  }

  private send(chunk: Buffer): boolean | undefined {
    const sent = this.usageFilter?.push(chunk) ?? chunk;
    return sent.length === 0 || this.answer?.data(sent);
  }

  /** Begins an answer. Returns false if the client reads too slowly. */
  private passOn(attempt: Attempt): boolean {
    this.clearHeadTimer();
    const chunks = this.judgedFirst;
    this.judgedFirst = null;
    if (!chunks || !this.answer) return true;
    this.answer.begin(attempt.status, this.headers);
    return chunks.map((chunk) => this.send(chunk)).at(-1) !== false;
  }

  onEnd(attempt: Attempt): void {
    const answer = judged(attempt);
    if (this.isUsageRefused(answer)) {
      this.repeatWithoutUsage(attempt);
      return;
    }
    const outcome = outcomeOf(answer);
    try {
      if (!outcome.error || this.isReplacedByAnswer(outcome)) this.passOn(attempt);
      const rest = this.usageFilter?.end();
      if (rest?.length && !this.judgedFirst) this.answer?.data(rest);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.conclude(attempt, outcomeOfStop(error, outcome), true);
      return;
    }
    this.conclude(attempt, outcome);
  }

  private isUsageRefused({ judgement: { outcome, error } }: JudgedAnswer): boolean {
    return this.hasUsageOption && outcome === 'client_error' && isAboutOption(error);
  }

  /** The client did not send the option, so this attempt is neither its mistake nor one of its attempts. */
  private repeatWithoutUsage({ instance }: Attempt): void {
    const { destination, body } = this.input;
    destination.backend.refusesUsageOption = true;
    this.hasUsageOption = false;
    this.body = withoutOption(body, destination.backend.spec.modelId);
    this.settleInstance(instance, 'fine');
    this.answer = null;
    this.tried.pop();
    this.dispatch(instance);
  }

  onError(attempt: Attempt, error: Error & { code?: string }): void {
    if (!attempt.judge) this.conclude(attempt, outcomeOfError(error));
    else this.conclude(attempt, outcomeOf(judged(attempt, true, error.code === 'UND_ERR_BODY_TIMEOUT')), true);
  }

  get instance(): Instance | undefined {
    return this.attempt?.instance;
  }

  silentMs(now: number): number {
    return this.attempt?.silentMs(now) ?? 0;
  }

  /**
   * Ends the request because the gateway itself stops: with an error event in a stream that has begun, with an error if
   * nothing was sent. It says nothing about the instance.
   */
  stop(error: GatewayError): void {
    if (this.isOver) return;
    const { attempt, answer } = this;
    attempt?.abort('the gateway stops');
    if (attempt) this.settle(attempt, outcomeOfRefusal(error), false);
    if (!answer || !this.input.response.headersSent) {
      this.input.response.shouldKeepAlive = false;
      this.refuse(error, 'cancelled');
      return;
    }
    this.over('cancelled');
    answer.cut(error);
  }

  /** Treats the loss as a broken connection if another instance is ready. Otherwise the request waits for an answer. */
  onInstanceLost(instance: Instance): void {
    const { attempt } = this;
    const { backend } = this.input.destination;
    if (attempt?.instance !== instance) return;
    // An answer that has begun may continue: a node that no longer reports to the cluster may well serve.
    if (this.answer) return attempt.doubt(this.parts.settings.lostSilenceMs, () => !backend.isServing);
    if (!backend.isServing || !this.mayRetry('spare')) return;
    attempt.abort('its instance is lost');
    this.settle(attempt, outcomeOfError({}), true);
    this.retry();
  }

  /** Ends the attempt: with another one, with an error in place of its answer, or with the end of its answer. */
  private conclude(attempt: Attempt, outcome: Outcome, isCut = false): void {
    const { answer } = this;
    const hasSent = this.input.response.headersSent;
    const isRetried = !hasSent && this.mayRetry(outcome.retry);
    this.settle(attempt, outcome, isRetried);
    noteConfiguration(attempt, outcome, this.input.destination.backend, this.parts.log);
    if (isRetried) {
      this.retry();
      return;
    }
    if (!answer || (outcome.error && !hasSent && !this.isReplacedByAnswer(outcome))) {
      this.fail(outcome);
      return;
    }
    this.over(requestOutcomeOf(outcome.class));
    // The engine's own error in the middle of a stream has reached the client already. A published answer ends itself.
    const isComplete =
      !isCut && (outcome.error === null || outcome.fault === 'error_in_answer' || this.input.destination.published);
    if (isComplete) answer.end();
    else answer.cut(outcome.error ?? upstreamFailed());
  }

  /** A published product's answer replaces an error inside of it: the error may be about the client's own request. */
  private isReplacedByAnswer({ fault }: Outcome): boolean {
    return fault === 'error_in_answer' && this.input.destination.published !== undefined;
  }

  private fail({ error, engineError, class: outcome }: Outcome): void {
    const refusal = error ?? upstreamFailed();
    if (!engineError) {
      this.refuse(refusal, requestOutcomeOf(outcome));
      return;
    }
    this.over(requestOutcomeOf(outcome));
    const answer = this.answerWith(refusal.status);
    answer.begin(refusal.status, { 'content-type': 'application/json' });
    const { details, ...members } = engineError;
    answer.data(Buffer.from(JSON.stringify({ error: { ...details, ...members } })));
    answer.end();
  }

  private answerWith(status: number): ClientAnswer {
    const { destination, response, requestId, parameters, bytes, path, model } = this.input;
    return answerFor({
      status,
      headers: this.headers,
      response,
      own: ownHeaders(requestId, destination, this.placement),
      path,
      requestId: this.engineRequestId,
      destination,
      model,
      parameters,
      bytes,
    });
  }

  /** Sends an attempt, unless the token of the request has ended since it was checked. */
  private dispatch(instance: Instance): void {
    const ended = this.input.tokenEnd();
    if (ended) {
      this.refuse(ended, 'client_error');
      return;
    }
    const { destination, request, isStream, path } = this.input;
    const { passedHeaders } = this.parts.settings;
    const authorization = instance.authorization ?? destination.backend.spec.authorization;
    const headers = destination.published
      ? supplierHeaders(isStream, authorization)
      : upstreamHeaders(request.headers, this.engineRequestId, authorization, passedHeaders, isStream);
    this.tried.push(instance);
    this.attempt = new Attempt(instance, this);
    const options: Dispatcher.DispatchOptions = {
      origin: instance.origin,
      path: instance.pathOf(path),
      method: 'POST',
      headers,
      body: this.body,
    };
    instance.dispatch(options, this.attempt);
  }

  /**
   * A server that dies loses all its requests at once. So a retry on another sound instance does not use the retry
   * allowance. If everything fails, no instance is sound.
   */
  private mayRetry(retry: Outcome['retry']): boolean {
    if (retry === 'never' || this.isOver || this.tried.length >= this.parts.settings.maxAttempts) return false;
    const { backend } = this.input.destination;
    if (backend.isPaused(performance.now())) return false;
    if (retry === 'elsewhere' && !backend.hasOther(performance.now(), this.tried)) return false;
    return (retry === 'spare' && backend.hasSoundOne(performance.now(), this.tried)) || backend.takeRetry();
  }

  private retry(): void {
    this.clearHeadTimer();
    this.attempt = null;
    this.answer = null;
    this.judgedFirst = null;
    this.countJudge(0);
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
    else this.refuseWithoutInstance(upstreamUnreachable());
  }

  private move(next: Instance): void {
    const { backend, sessionRequest } = this.input.destination;
    if (sessionRequest && this.placement && this.placement.instance !== next)
      this.placement = this.parts.sessions.moved(sessionRequest, this.placement, backend, next, performance.now());
    this.dispatch(next);
  }

  private onClientGone(): void {
    if (this.isOver) return;
    const { attempt } = this;
    const isWaiting = this.parts.recorder.waiting.has(this.waiting);
    const outcome = outcomeOfLeaving(isWaiting, performance.now() - this.startedAt);
    if (attempt) {
      attempt.abort('the client left');
      this.settle(attempt, { class: outcome, fault: null, instance: 'fine', retry: 'never', error: null }, false);
    }
    this.over(outcome);
  }

  private settle(attempt: Attempt, outcome: Outcome, isRetried: boolean): void {
    const now = performance.now();
    const { backend } = this.input.destination;
    const e2eMs = now - attempt.startedAt;
    const isAbandoned = outcome.class === 'abandoned';
    const isStream = attempt.judge?.isStream ?? this.input.isStream;
    const metering = (!isAbandoned && attempt.judge?.read()) || null;
    const firstTokenMs = metering?.firstTokenAt == null ? null : metering.firstTokenAt - attempt.startedAt;
    const record: AttemptRecord = {
      class: outcome.class,
      fault: outcome.class === 'server_error' ? outcome.fault : null,
      isRetried,
      e2eMs,
      isStream,
      ttftMs: isAbandoned && isStream ? e2eMs : firstTokenMs,
      metering,
      load: attempt.load(now),
      instances: backend.size,
      isStarting: attempt.isStarting,
      caller: this.waiting.caller,
      waitedMs: now - this.startedAt,
    };
    this.settleInstance(attempt.instance, outcome.instance);
    if (outcome.instance === 'answered') this.settleSession(true);
    if (outcome.class === 'server_error' || outcome.class === 'connect_error') this.sums.upstreamFaults += 1;
    this.sums.inFlightSum += record.load.mean;
    this.sums.tokensIn += metering?.tokensIn ?? 0;
    this.sums.tokensOut += metering?.tokensOut ?? 0;
    for (const { id, tenantId } of this.waiting.keys) this.parts.recorder.add(id, tenantId, record);
  }

  private settleInstance(instance: Instance, result: Outcome['instance']): void {
    if (result === 'answered') instance.answered();
    if (result === 'taken') instance.noteTaken();
    const counted = result === 'answered' ? 'fine' : result === 'taken' ? 'failed' : result;
    instance.settle(counted, performance.now(), this.waiting.caller);
  }

  private refuse(error: GatewayError, outcome: UsageRecord['outcome'] = 'server_error'): void {
    this.over(outcome);
    const { response, requestId, destination } = this.input;
    sendGatewayError(response, ownHeaders(requestId, destination, this.placement), error);
  }

  private refuseWithoutInstance(error: GatewayError): void {
    this.parts.recorder.refuse(this.waiting.keys);
    this.refuse(error);
  }

  /** A request that was held arrived when its hold began. */
  private noteArrival(): void {
    const { destination, heldMs } = this.input;
    const { keys } = this.waiting;
    const isHit = this.placement?.outcome === 'hit';
    if (heldMs === undefined) this.parts.recorder.arrive(keys, destination.backend.size, isHit);
    else this.parts.recorder.hold(keys, heldMs);
  }

  private countJudge(bytes: number): void {
    const more = bytes - this.judgeBytes;
    this.judgeBytes = bytes;
    if (more > 0) this.input.bytes.take(more);
    else if (more < 0) this.input.bytes.give(-more);
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
    this.parts.recorder.waiting.delete(this.waiting);
    this.noteUsage(outcome);
    this.settleSession(false);
    this.attempt = null;
    this.clearHeadTimer();
    if (this.stallTimer) clearTimeout(this.stallTimer);
    if (this.retryTimer) clearTimeout(this.retryTimer);
    this.input.destination.backend.leave(this);
    this.onOver();
  }
}
