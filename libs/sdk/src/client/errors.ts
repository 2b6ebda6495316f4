import type { ErrorCode, FailureCode } from '../generated/endpoints.js';
import type { Operation, Schemas } from './types.js';

export type ErrorBody = Schemas['ErrorBodyDto'];

/** What the sdk itself says where the api could not: no answer, none in time, or one that the api does not give. */
export type OwnCode = 'connection_failed' | 'timed_out' | 'unexpected_answer';
/** Every code of this version of the api; a later one may answer others. */
export type SlipwayErrorCode = ErrorCode | FailureCode | OwnCode | (string & {});

interface ErrorFacts {
  code: SlipwayErrorCode;
  retryable: boolean;
  /** Undefined where there was no answer. */
  status?: number;
  /** What the api said, with the members that only this code has. */
  body?: ErrorBody;
  retryAfterMs?: number;
  cause?: unknown;
}

/** Everything that a call fails with, except an abort: that fails with the signal's own reason. Branch on `code`. */
export class SlipwayError extends Error {
  override readonly name: string = 'SlipwayError';
  readonly code: SlipwayErrorCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly body: ErrorBody | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { code, retryable, status, body, retryAfterMs, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
    this.status = status;
    this.body = body;
    this.retryAfterMs = retryAfterMs;
  }

  get category(): ErrorBody['category'] | undefined {
    return this.body?.category;
  }

  get remediation(): string | undefined {
    return this.body?.remediation;
  }

  /** The api's logs have it. */
  get request_id(): string | undefined {
    return this.body?.request_id;
  }

  /** Each field that was refused. */
  get details(): NonNullable<ErrorBody['details']> {
    return this.body?.details ?? [];
  }
}

/** An operation that was waited for has ended otherwise than `succeeded`. `code` is its `error_code`. */
export class OperationFailed extends SlipwayError {
  override readonly name = 'OperationFailed';

  constructor(readonly operation: Operation) {
    super(operation.message || `The operation ended with the status ${operation.status}.`, {
      code: operation.error_code ?? operation.status,
      retryable: operation.retryable,
    });
  }
}

/** Narrows what a call threw: `isSlipwayError(error, 'deployment_exists')`. Without codes any will do. */
export function isSlipwayError<Code extends SlipwayErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is SlipwayError & { readonly code: Code } {
  return error instanceof SlipwayError && (codes.length === 0 || (codes as readonly string[]).includes(error.code));
}

/** Statuses that proxies in front of the api answer by themselves, and that pass. */
const PASSING = [408, 429, 502, 503, 504];

/** Makes an error of an answer that is no success, whoever gave it. */
export function refusalOf(response: Response, text: string): SlipwayError {
  const { status } = response;
  const body = errorBodyOf(text);
  const retryAfterMs = retryAfterOf(response.headers.get('retry-after'));
  if (body) return new SlipwayError(body.message, { ...body, status, body, retryAfterMs });
  return new SlipwayError(`The response ${status} is not from the Slipway API. Check the address.`, {
    code: 'unexpected_answer',
    retryable: PASSING.includes(status),
    status,
    retryAfterMs,
  });
}

function errorBodyOf(text: string): ErrorBody | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorBody> };
    return typeof error?.code === 'string' && typeof error.message === 'string'
      ? ({ ...error, retryable: error.retryable === true } as ErrorBody)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, or a date (RFC 9110). */
function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
