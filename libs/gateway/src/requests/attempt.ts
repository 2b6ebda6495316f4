import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import type { AnswerJudge } from '../answers/answer-judge.js';
import type { Log } from '../log.js';
import type { UpstreamBackend } from '../upstream/backend.js';
import { Stay, type AttemptLoad } from '../upstream/in-flight.js';
import type { Instance } from '../upstream/instance.js';
import { isConfigurationFault, type JudgedAnswer, type Outcome } from './outcome.js';

export interface AttemptEvents {
  /** Its connection exists. The attempt may still be aborted before a byte of it is sent. */
  onStart(attempt: Attempt): void;
  onHead(attempt: Attempt, status: number, headers: IncomingHttpHeaders): void;
  /** The next `onData` brings the first token of a stream. */
  onFirstToken(attempt: Attempt): void;
  onData(attempt: Attempt, chunk: Buffer): void;
  onEnd(attempt: Attempt): void;
  onError(attempt: Attempt, error: Error): void;
}

/** The rest of an abandoned answer is read up to this size, so that its connection can be used again. */
const MAX_DISCARDED_BYTES = 64 * 1024;

/** Far more interim answers (1xx) than a server that needs time would send. */
const MAX_INTERIM = 100;

/** One attempt on one instance. After `abandon` or `abort` it reports nothing more. */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly startedAt = performance.now();
  /** When its last byte arrived, or when it began. */
  private byteAt = this.startedAt;
  status = 0;
  judge: AnswerJudge | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private isSilent = false;
  private abortReason: Error | undefined;
  private discarded = 0;
  private interim = 0;
  /** Runs while the instance is lost. */
  private silence: NodeJS.Timeout | undefined;
  private readonly stay: Stay;
  /** Whether the instance was starting when it was sent. */
  readonly isStarting: boolean;

  constructor(
    readonly instance: Instance,
    private readonly events: AttemptEvents,
  ) {
    this.stay = new Stay(instance.load, this.startedAt);
    this.isStarting = instance.isStarting(this.startedAt);
  }

  /** Returns the instance's load since this attempt began. Call it before `settle`: the attempt counts itself. */
  load(now: number): AttemptLoad {
    return this.stay.load(now);
  }

  abandon(): void {
    this.isSilent = true;
  }

  abort(reason: string): void {
    this.isSilent = true;
    this.abortReason = new Error(reason);
    this.controller?.abort(this.abortReason);
  }

  /**
   * Handles an instance whose node no longer reports to its cluster but may still serve. The answer breaks after this
   * long without data, unless `isHopedFor` says that the rest is worth waiting for. While the client reads too slowly,
   * silence does not count.
   */
  doubt(silenceMs: number, isHopedFor: () => boolean): void {
    this.silence ??= setTimeout(() => {
      const isSilenceOurs = this.controller?.paused === true;
      if (!this.instance.isLost) this.silence = undefined;
      else if (isSilenceOurs || isHopedFor()) this.silence?.refresh();
      else this.controller?.abort(new Error('its instance is lost'));
    }, silenceMs);
  }

  /** Milliseconds without a byte of the instance. While the client reads too slowly, silence does not count. */
  silentMs(now: number): number {
    return this.controller?.paused === true ? 0 : now - this.byteAt;
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.byteAt = performance.now();
    this.silence?.refresh();
    this.controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // The client left while the connection was being made.
    if (this.abortReason) controller.abort(this.abortReason);
    else this.events.onStart(this);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return this.noteInterim(controller);
    if (this.isSilent) return;
    this.status = status;
    this.events.onHead(this, status, headers);
  }

  /** Each begins the time limit of the connection for the head anew, so they have limits of their own. */
  private noteInterim(controller: Dispatcher.DispatchController): void {
    this.interim += 1;
    const isLate = performance.now() - this.startedAt > this.instance.headTimeoutMs;
    if (isLate || this.interim > MAX_INTERIM) controller.abort(new errors.HeadersTimeoutError());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.silence?.refresh();
    if (this.isSilent) {
      this.discarded += chunk.length;
      if (this.discarded > MAX_DISCARDED_BYTES) controller.abort(new Error('the answer is not wanted'));
      return;
    }
    const now = performance.now();
    this.byteAt = now;
    if (this.judge?.push(chunk, now)) {
      this.stay.noteFirstToken(now);
      this.events.onFirstToken(this);
    }
    this.events.onData(this, chunk);
  }

  onResponseEnd(): void {
    clearTimeout(this.silence);
    if (!this.isSilent) this.events.onEnd(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.silence);
    if (!this.isSilent) this.events.onError(this, error);
  }
}

/**
 * Returns the answer of an attempt as far as it arrived.
 * @param isSilent whether it was cut because nothing more came
 */
export function judged({ judge, status, instance }: Attempt, isCut = false, isSilent = false): JudgedAnswer {
  const given = judge as AnswerJudge;
  const judgement = isCut ? given.cut() : given.end();
  return {
    judgement: isSilent ? { ...judgement, outcome: 'server_error', fault: 'silent' } : judgement,
    status,
    hasOwnKey: instance.authorization !== null,
    isCut,
  };
}

/** A client can do nothing about these faults, and the operator does not see the client's answer. */
export function noteConfiguration(
  { instance, status }: Attempt,
  { fault }: Outcome,
  backend: UpstreamBackend,
  log: Log,
): void {
  if (!isConfigurationFault(fault) || !backend.noteFault(fault)) return;
  const { id, tenantId, revisionName } = backend.spec;
  log.warn(
    { tenant: tenantId, backend: id, revision: revisionName, instance: instance.id, status, fault },
    'a model server refuses the requests of the gateway: check its credential, its address and the name of its model',
  );
}
