import { retryAfterMs, serverUrls, withinTime } from '@slipway/contracts';
import { collect } from '@slipway/platform-bounds';
import { request, type Dispatcher } from 'undici';

/** A server that answers requests. `credential` is plaintext; nothing in this file repeats it. */
export interface CallableServer {
  baseUrl: string;
  apiPath?: string;
  model: string;
  credential: string | undefined;
  dispatcher: Dispatcher;
}

/**
 * How a check ended. `not_applicable`: the check could not find out anything about this engine, and `message` says why.
 * It neither passes nor counts against the target.
 */
export type CheckResult = 'passed' | 'failed' | 'not_applicable';

/** The result of a check. */
export interface CheckOutcome {
  result: CheckResult;
  /** Our own words. Viewers read operations, and must not learn which server answers. */
  message: string;
  /** The server's own words, for a person who runs the check by hand. Never stored. */
  found?: ServerFindings;
}

export interface ServerFindings {
  /** The server's real behaviour for a model that it does not have. */
  unknownModel?: 'rejects' | 'ignores' | 'echoes';
  models?: string[];
  /** Tokens of one request, as the server reports it. */
  contextLength?: number;
  responseModel?: string;
  hasUsage?: boolean;
}

/** The result of one call. `isOutage`: the target did not work at all, as opposed to working incorrectly. */
export interface CallResult extends CheckOutcome {
  durationMs: number;
  isOutage: boolean;
  /** The server sent nothing until a time-out. */
  isSilent: boolean;
  /** The server refused for now, and requests this wait with `Retry-After`. */
  retryAfterMs?: number;
}

export interface EngineCall {
  /** Below the API. With `isOutsideApi`, below the server's own root. */
  path: string;
  isOutsideApi?: boolean;
  body?: object;
  /** Replaces the limit of 60 s for the call, and the dispatcher's limit between two bytes. */
  limitMs?: number;
  signal?: AbortSignal;
}

export interface EngineAnswer {
  status: number;
  type: string;
  text: string;
  retryAfterMs?: number;
}

const CALL_TIMEOUT_MS = 60_000;
/** Without a byte in either direction. A model that is loaded at its first request answers within this time. */
export const CALL_IDLE_TIMEOUT_MS = 30_000;
const SILENCES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** Statuses whose `Retry-After` says when the same call may succeed (RFC 9110 10.2.3, RFC 6585 4). */
const REFUSED_FOR_NOW = new Set([429, 503]);
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Makes one call and judges its result. Never throws for any behaviour of the target. */
export async function callEngine(
  target: CallableServer,
  call: EngineCall,
  judge: (answer: EngineAnswer) => CheckOutcome,
): Promise<CallResult> {
  const startedAt = performance.now();
  const result = (outcome: CheckOutcome, isOutage: boolean, isSilent = false): CallResult => ({
    ...outcome,
    isOutage,
    isSilent,
    durationMs: Math.round(performance.now() - startedAt),
  });
  try {
    const answer = await exchange(target, call);
    const waits = answer.retryAfterMs !== undefined && REFUSED_FOR_NOW.has(answer.status);
    return {
      ...result(judge(answer), isOutageStatus(answer.status)),
      ...(waits && { retryAfterMs: answer.retryAfterMs }),
    };
  } catch (error) {
    call.signal?.throwIfAborted();
    return result({ result: 'failed', message: reasonOf(error, call) }, !isRefusedByGuard(error), isSilence(error));
  }
}

export function urlOf(
  { baseUrl, apiPath }: Pick<CallableServer, 'baseUrl' | 'apiPath'>,
  { path, isOutsideApi }: Pick<EngineCall, 'path' | 'isOutsideApi'>,
): string {
  const { root, api } = serverUrls(baseUrl, apiPath);
  return `${isOutsideApi ? root : api}${path}`;
}

export function exchange(server: CallableServer, call: EngineCall): Promise<EngineAnswer> {
  return withinTime(call.limitMs ?? CALL_TIMEOUT_MS, call.signal, (signal) => send(server, { ...call, signal }));
}

async function send(server: CallableServer, call: EngineCall): Promise<EngineAnswer> {
  const { credential, dispatcher } = server;
  const { body, limitMs, signal } = call;
  const answer = await request(urlOf(server, call), {
    dispatcher,
    method: body ? 'POST' : 'GET',
    headers: {
      accept: '*/*',
      'user-agent': 'slipway',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(credential ? { authorization: `Bearer ${credential}` } : {}),
    },
    body: body ? JSON.stringify(body) : undefined,
    ...(limitMs === undefined ? {} : { headersTimeout: limitMs, bodyTimeout: limitMs }),
    signal,
  });
  const bytes = await collect(answer.body, MAX_ANSWER_BYTES, () => new AnswerTooLargeError());
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type'] ?? ''),
    text: bytes.toString('utf8'),
    retryAfterMs: retryAfterMs(answer.headers['retry-after'], answer.headers['date'], Date.now()),
  };
}

class AnswerTooLargeError extends Error {}

export function isOutageStatus(status: number): boolean {
  return status >= 500 || status === 429;
}

function isSilence(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string };
  return name === 'TimeoutError' || SILENCES.has(code ?? '');
}

/** Compares the name, like `causeOf`, because the guard's class is not part of this library. */
function isRefusedByGuard(error: unknown): boolean {
  return (error as { name?: string }).name === 'EgressRefusedError';
}

function reasonOf(error: unknown, { limitMs = CALL_TIMEOUT_MS }: EngineCall): string {
  const { name, code } = error as { name?: string; code?: string };
  if (error instanceof AnswerTooLargeError) return `the response is larger than ${MAX_ANSWER_BYTES} bytes`;
  if (isRefusedByGuard(error)) return 'the egress guard refused the connection';
  if (name === 'TimeoutError') return `no response within ${limitMs / 1_000} s`;
  return `the target could not be reached (${/^[A-Z_]{2,40}$/.test(code ?? '') ? code : 'no connection'})`;
}
