import type { ErrorCode, FailureCode } from '../generated/endpoints.js';
import type { Operation, Schemas } from './types.js';

export type ErrorBody = Schemas['ErrorBodyDto'];

/**
 * Codes of the sdk itself, for failures without a valid answer of the api: no answer, none in time, or an unexpected
 * one.
 */
export type OwnCode = 'connection_failed' | 'timed_out' | 'unexpected_answer';
/** Every code of this version of the api. A later one may answer others. */
export type SlipwayErrorCode = ErrorCode | FailureCode | OwnCode | (string & {});

interface ErrorFacts {
  code: SlipwayErrorCode;
  retryable: boolean;
  /** Undefined if there was no answer. */
  status?: number;
  /** The error body of the api, with the members that only this code has. */
  body?: ErrorBody;
  retryAfterMs?: number;
  cause?: unknown;
}

/** Every failure of a call, except an abort, which fails with the signal's own reason. Branch on `code`. */
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

  /** Find the request in the api's logs by this id. */
  get request_id(): string | undefined {
    return this.body?.request_id;
  }

  /** One entry for each refused field. */
  get details(): NonNullable<ErrorBody['details']> {
    return this.body?.details ?? [];
  }
}

/** The awaited operation has ended in a status other than `succeeded`. `code` is its `error_code`. */
export class OperationFailed extends SlipwayError {
  override readonly name = 'OperationFailed';

  constructor(readonly operation: Operation) {
    super(operation.message || `The operation ended with the status ${operation.status}.`, {
      code: operation.error_code ?? operation.status,
      retryable: operation.retryable,
    });
  }
}

/** Narrows the error of a call: `isSlipwayError(error, 'deployment_exists')`. Without codes it accepts every code. */
export function isSlipwayError<Code extends SlipwayErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is SlipwayError & { readonly code: Code } {
  return error instanceof SlipwayError && (codes.length === 0 || (codes as readonly string[]).includes(error.code));
}

/** Statuses that proxies in front of the api send themselves, and that are temporary. */
const PASSING = [408, 429, 502, 503, 504];

/** Makes an error of an unsuccessful answer, whether the api or a proxy sent it. */
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

/** Reads seconds, or a date (RFC 9110). */
function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
