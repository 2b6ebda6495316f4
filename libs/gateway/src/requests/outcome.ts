import { CONFIGURATION_FAULTS, type ConfigurationFault, type RequestCounts } from '@slipway/dataplane';
import type { AnswerFault, AnswerJudgement } from '../answers/answer-judge.js';
import type { EngineError } from '@slipway/contracts';
import {
  GatewayError,
  answerTooLarge,
  upstreamCredentialRefused,
  upstreamFailed,
  upstreamModelMissing,
  upstreamRedirected,
  upstreamTimeout,
  upstreamUnreachable,
} from '../gateway.errors.js';
import { ABANDONED_AFTER_MS, type AttemptClass } from '../telemetry/measurement.js';
import type { AttemptResult } from '../upstream/instance.js';

/** The meaning of an ended attempt for everything that depends on it. No other code reads the status of an engine. */
export interface Outcome {
  class: AttemptClass;
  fault: AnswerFault | null;
  /** `answered`: the answer proved good. `taken`: another server has the address of the instance. */
  instance: AttemptResult | 'answered' | 'taken';
  /**
   * Whether another attempt may follow while nothing has reached the client. `elsewhere`: on another instance only.
   * `spare`: also without the retry allowance, if another instance is sound.
   */
  retry: 'never' | 'elsewhere' | 'anywhere' | 'spare';
  /** The client gets this in place of the answer, if nothing of the answer has reached it. Null: it gets the answer. */
  error: GatewayError | null;
  /** The engine's own error inside of a good status. A client of a deployment gets it with the status of `error`. */
  engineError?: EngineError | null;
}

/** Answers of servers that have refused the request before they worked on it. */
const UNPROCESSED = new Set([502, 503]);

export interface JudgedAnswer {
  judgement: AnswerJudgement;
  status: number;
  /** The engine was started with a key of its own, which only another server refuses. */
  hasOwnKey: boolean;
  /** The connection broke in the middle of the answer. */
  isCut: boolean;
}

/** Shared, because nearly every attempt has it. */
const GOOD: Outcome = { class: 'ok', fault: null, instance: 'answered', retry: 'never', error: null };

/** Decides the outcome of an attempt from the whole answer. */
export function outcomeOf({ judgement, status, hasOwnKey, isCut }: JudgedAnswer): Outcome {
  const { outcome, fault } = judgement;
  if (outcome === 'ok') return GOOD;
  const base = { class: outcome, fault, error: null };
  if (outcome === 'client_error') return { ...base, instance: 'answered', retry: 'never' };
  if (outcome === 'overloaded') return { ...base, instance: 'fine', retry: 'elsewhere' };
  if (fault === 'credential' && hasOwnKey)
    return { class: 'connect_error', fault, instance: 'taken', retry: 'spare', error: upstreamUnreachable() };
  switch (fault) {
    case 'credential':
      return { ...base, instance: 'failed', retry: 'elsewhere', error: upstreamCredentialRefused() };
    case 'model_missing':
      return { ...base, instance: 'failed', retry: 'elsewhere', error: upstreamModelMissing() };
    case 'redirect':
      return { ...base, instance: 'failed', retry: 'elsewhere', error: upstreamRedirected(status) };
    case 'too_large':
      return { ...base, instance: 'fine', retry: 'never', error: answerTooLarge() };
    case 'silent':
      return { ...base, instance: 'failed', retry: 'never', error: upstreamTimeout() };
    case 'error_in_answer':
      return {
        ...base,
        instance: 'engine_error',
        retry: 'never',
        error: upstreamFailed(),
        engineError: judgement.error,
      };
    case 'status':
      return {
        ...base,
        instance: judgement.isEngineError ? 'engine_error' : 'failed',
        retry: UNPROCESSED.has(status) ? 'anywhere' : 'never',
      };
    default:
      // The engine may still work on a request whose connection broke.
      return { ...base, instance: 'failed', retry: isCut ? 'never' : 'elsewhere', error: upstreamFailed() };
  }
}

/**
 * Decides the outcome of an attempt whose answer the gateway stopped reading.
 * @param outcome of the part that arrived
 */
export function outcomeOfStop(error: GatewayError, outcome: Outcome): Outcome {
  // An error's beginning says enough.
  if (!outcome.error) return { ...outcome, retry: 'never' };
  const stopped = { class: 'server_error', retry: 'never', error } as const;
  if (error.code === answerTooLarge().code) return { ...stopped, fault: 'too_large', instance: 'fine' };
  // The gateway's own limit of bytes says nothing about the engine.
  if (error.status === 503) return { ...stopped, class: 'cancelled', fault: null, instance: 'fine' };
  return { ...stopped, fault: outcome.fault ?? 'unreadable', instance: 'failed' };
}

/** Decides the outcome of an attempt whose connection failed before an answer. */
export function outcomeOfError({ code }: { code?: string }): Outcome {
  const failed = { class: 'server_error', instance: 'failed', retry: 'never' } as const;
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return { ...failed, fault: 'silent', error: upstreamTimeout() };
  const refused = { ...failed, class: 'connect_error', fault: null } as const;
  if (code === 'EGRESS_REFUSED') return { ...refused, error: upstreamFailed() };
  return { ...refused, retry: 'spare', error: upstreamUnreachable() };
}

/** Decides the outcome of an attempt that the gateway itself ends with this error. It says nothing about the instance. */
export function outcomeOfRefusal(error: GatewayError): Outcome {
  return { class: 'cancelled', fault: null, instance: 'fine', retry: 'never', error };
}

/** Whether the status alone decides, so that the rest of the answer is not read. */
export function isDecidedByHead(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Whether the server may name a time before which the same request would be refused again (RFC 9110 10.2.3). */
export function isRefusedForNow(status: number): boolean {
  return status === 429 || status === 503;
}

/** Whether the answer may reach the client while it arrives. An error is sent whole, or replaced. */
export function isPassedOn(status: number): boolean {
  return status < 300;
}

/** Whether only the operator can correct it. */
export function isConfigurationFault(fault: AnswerFault | null): fault is ConfigurationFault {
  return CONFIGURATION_FAULTS.some((one) => one === fault);
}

/** A client left that had waited this long without a first byte, or was reading. */
export function outcomeOfLeaving(isWaiting: boolean, waitedMs: number): 'abandoned' | 'cancelled' {
  return isWaiting && waitedMs >= ABANDONED_AFTER_MS ? 'abandoned' : 'cancelled';
}

/** The same classes for requests: their clients cannot tell why an answer failed. */
export function requestOutcomeOf(outcome: AttemptClass): keyof RequestCounts {
  return outcome === 'connect_error' ? 'server_error' : outcome;
}
