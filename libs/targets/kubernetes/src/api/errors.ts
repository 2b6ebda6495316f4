import type { Status, StatusDetails } from './objects.js';

/** A call of the API server, in the words of a rule of a Role. */
export interface ApiCall {
  verb: string;
  /** `deployments`, `pods/log`. */
  resource: string;
  group: string;
  namespace: string;
  name?: string;
}

/** Messages of a server get into events and logs. This is as much as a person reads. */
const LONGEST_MESSAGE = 1_000;

/** The same call may succeed later: the server was busy, or two writers conflicted. */
const RETRYABLE_STATUS = new Set([429, 500, 502, 503, 504]);
const RETRYABLE_REASONS = new Set(['Conflict', 'ServerTimeout', 'Timeout', 'TooManyRequests', 'InternalError']);

/**
 * The API server refused. `reason` is the server's word for the cause (`NotFound`, `AlreadyExists`, `Forbidden`); '' if
 * it gave none.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  /** The server's own words; '' for none. */
  readonly words: string;
  readonly call: ApiCall;
  /** The same call may succeed later. */
  readonly isRetryable: boolean;
  /** Seconds to wait before the next try, if the server named them. */
  readonly retryAfterSeconds?: number;

  /** @param answer the Status that the server sent; undefined if it sent none */
  constructor(call: ApiCall, status: number, answer: Status | undefined, retryAfterSeconds?: number) {
    const reason = answer?.reason ?? '';
    super(describe(call, status, reason, answer?.message));
    this.name = 'ApiError';
    this.call = call;
    this.status = status;
    this.reason = reason;
    this.details = answer?.details ?? {};
    this.words = (answer?.message ?? '').slice(0, LONGEST_MESSAGE);
    this.isRetryable = RETRYABLE_STATUS.has(status) || RETRYABLE_REASONS.has(reason);
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The requested version of a watch or page no longer exists: list again. */
  get isExpired(): boolean {
    return this.status === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** The API server itself says that the object does not exist. A proxy's 404 page does not say that. */
  get isNotFound(): boolean {
    return this.status === 404 && this.reason === 'NotFound';
  }
}

/**
 * No usable answer arrived, so it is unknown whether the call had an effect. `code` is that of the cause
 * (`ECONNREFUSED`), `TIMEOUT`, `BUSY` (too many calls wait in this client), `CLOSED` (this client was closed), `PAUSED`
 * (not sent, because the last calls failed), `TOO_LARGE` or `INVALID_ANSWER` (the answer is not from a Kubernetes API).
 */
export class UnreachableError extends Error {
  readonly code: string;
  readonly isRetryable = true;

  constructor(server: string, code: string, explanation: string, cause?: unknown) {
    super(`Kubernetes API server ${server}: ${explanation.slice(0, LONGEST_MESSAGE)} (${code})`, { cause });
    this.name = 'UnreachableError';
    this.code = code;
  }
}

/** The Role does not allow the call. Otherwise a 403 is by admission or a quota. */
export function isMissingRight({ status, words }: ApiError): boolean {
  return status === 403 && (words === '' || /\bcannot [a-z*]+ resource\b/.test(words));
}

/** The operator's access to a cluster cannot be used. The message names the file and what to change in it. */
export class KubeConfigError extends Error {
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`${file}: ${problem}`);
    this.name = 'KubeConfigError';
    this.file = file;
  }
}

function describe(call: ApiCall, status: number, reason: string, message = ''): string {
  const { verb, resource, group, namespace, name } = call;
  const what = `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}`;
  const where = namespace === '' ? '' : ` in namespace ${namespace}`;
  return `Kubernetes returned ${status}${reason === '' ? '' : ` ${reason}`} for ${what}${where}${advice(status)}${
    message === '' ? '' : `: ${message.slice(0, LONGEST_MESSAGE)}`
  }`;
}

function advice(status: number): string {
  if (status === 401) return ' (renew the credentials of the target)';
  if (status === 403)
    return ' (allow this verb in the Role of the target, unless admission or a quota rejected the request)';
  return '';
}
