import type { Status, StatusDetails } from './objects.js';

/** What was asked of the API server, in the words of a rule of a Role. */
export interface ApiCall {
  verb: string;
  /** `deployments`, `pods/log`. */
  resource: string;
  group: string;
  namespace: string;
  name?: string;
}

/** Messages of a server go into events and logs: no more of them than a person reads. */
const LONGEST_MESSAGE = 1_000;

/** Worth the same call again: the server was busy, or two writers met. */
const RETRYABLE_STATUS = new Set([429, 500, 502, 503, 504]);
const RETRYABLE_REASONS = new Set(['Conflict', 'ServerTimeout', 'Timeout', 'TooManyRequests', 'InternalError']);

/** The API server refused. `reason` is its word for why (`NotFound`, `AlreadyExists`, `Forbidden`); '' if it gave none. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  readonly call: ApiCall;
  /** The same call may go well later. */
  readonly isRetryable: boolean;
  /** After so long, where the server said it. */
  readonly retryAfterSeconds?: number;

  /** @param answer what the server sent; undefined where it was no Status */
  constructor(call: ApiCall, status: number, answer: Status | undefined, retryAfterSeconds?: number) {
    const reason = answer?.reason ?? '';
    super(describe(call, status, reason, answer?.message));
    this.name = 'ApiError';
    this.call = call;
    this.status = status;
    this.reason = reason;
    this.details = answer?.details ?? {};
    this.isRetryable = RETRYABLE_STATUS.has(status) || RETRYABLE_REASONS.has(reason);
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** What the watch or a page asks for is no longer there: list again. */
  get isExpired(): boolean {
    return this.status === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** The server says, in its own form, that there is no such object. A proxy's 404 page does not say that. */
  get isNotFound(): boolean {
    return this.status === 404 && this.reason === 'NotFound';
  }
}

/**
 * No usable answer came: whether the call had an effect is not known. `code` is that of the cause (`ECONNREFUSED`), `TIMEOUT`,
 * `BUSY` (too many calls wait here), `CLOSED` (this client was closed), `TOO_LARGE` or `INVALID_ANSWER` (whoever answered speaks no
 * Kubernetes).
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

/** What the operator gave us to reach a cluster cannot be used. Names the file and what to change in it. */
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
