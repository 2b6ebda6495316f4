import { HttpException, Logger } from '@nestjs/common';
import { errors } from './platform.errors.js';
import { SlipwayError } from './slipway-error.js';

const logger = new Logger('http');

/** Seconds until a client should retry while a dependency is unavailable. */
const UNAVAILABLE_RETRY_SECONDS = '2';

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * SQLSTATEs after which the same request can succeed: connection exceptions (class 08), shutdown and start-up (57P01 to
 * 57P03), too many connections, lock and statement timeouts, serialisation failures and deadlocks, disk full.
 */
const UNAVAILABLE_STATES = /^(08...|57P0[1-5]|57014|53...|55P03|40001|40P01|25006)$/;

/** SQLSTATEs of a value that no text column can hold: a NUL, or an escape without a character. */
const UNTEXTUAL_STATES = new Set(['22021', '22P05']);

/**
 * The pg driver raises these errors without a code. Only their texts distinguish an unreachable database from a bug.
 * Nothing else parses the text of an error.
 */
const CODELESS_CONNECTION_FAILURE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client was closed|Client has encountered a connection error|Cannot use a pool after calling end)/;

interface CodedFailure {
  code?: unknown;
  statusCode?: unknown;
  message?: unknown;
  driverError?: unknown;
  errors?: unknown;
  cause?: unknown;
}

/** Whether a failure means that Postgres, the queue or another dependency could not be reached. */
export function isUnreachable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const coded = error as CodedFailure;
  if (typeof coded.code === 'string' && (SOCKET_CODES.has(coded.code) || UNAVAILABLE_STATES.test(coded.code)))
    return true;
  if (
    coded.code === undefined &&
    typeof coded.message === 'string' &&
    CODELESS_CONNECTION_FAILURE.test(coded.message)
  ) {
    return true;
  }
  if (coded.driverError !== undefined && coded.driverError !== error && isUnreachable(coded.driverError)) return true;
  // A host name with several addresses fails with one AggregateError over all of them.
  return Array.isArray(coded.errors) && coded.errors.length > 0 && coded.errors.every(isUnreachable);
}

function sqlState(error: CodedFailure): string | undefined {
  if (typeof error.code === 'string') return error.code;
  const driver = error.driverError as CodedFailure | undefined;
  return typeof driver?.code === 'string' ? driver.code : undefined;
}

function fromStatus(status: number): SlipwayError {
  switch (status) {
    case 400:
      return errors.invalid_parameter();
    case 401:
      return errors.unauthenticated();
    case 403:
      return errors.scope_insufficient();
    case 404:
      return errors.not_found();
    case 405:
      return errors.method_not_allowed();
    case 406:
      return errors.not_acceptable();
    case 408:
      return errors.request_timeout();
    case 412:
      return errors.precondition_failed();
    case 413:
      return errors.body_too_large();
    case 415:
      return errors.unsupported_media_type();
    case 422:
      return errors.validation_failed();
    case 429:
      return errors.rate_limited();
    case 431:
      return errors.headers_too_large();
    case 502:
      return errors.upstream_error();
    case 503:
      return errors.unavailable();
    default:
      return status >= 400 && status < 500 ? errors.invalid_parameter() : errors.internal();
  }
}

function fromFastify(code: string, maxBytes: number | undefined): SlipwayError | undefined {
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return errors.body_too_large({ extra: maxBytes === undefined ? undefined : { max_bytes: maxBytes } });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return errors.unsupported_media_type();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return errors.invalid_parameter({ message: 'The length of the request body differs from Content-Length.' });
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return errors.path_invalid();
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return errors.invalid_json();
    default:
      return undefined;
  }
}

/**
 * Converts anything thrown into the error that a client may see. Unknown failures become `internal` and are logged.
 * Their texts never leave the process.
 * @param maxBytes the body limit of the route, for 413
 */
export function toSlipwayError(thrown: unknown, requestId: string, maxBytes?: number): SlipwayError {
  if (thrown instanceof SlipwayError) return thrown;
  const coded = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as CodedFailure;
  if (isUnreachable(thrown)) {
    logger.warn(`request ${requestId} failed, a dependency is unreachable: ${describe(thrown)}`);
    return errors.unavailable({ headers: { 'retry-after': UNAVAILABLE_RETRY_SECONDS }, cause: thrown });
  }
  const code = sqlState(coded);
  if (code !== undefined && UNTEXTUAL_STATES.has(code)) {
    return errors.invalid_parameter({ message: 'A text contains a character that cannot be stored.', cause: thrown });
  }
  const parser = code === undefined ? undefined : fromFastify(code, maxBytes);
  if (parser) return parser;
  if (thrown instanceof HttpException && thrown.getStatus() < 500) return fromStatus(thrown.getStatus());
  if (typeof coded.statusCode === 'number' && coded.statusCode >= 400 && coded.statusCode < 500) {
    return fromStatus(coded.statusCode);
  }
  logger.error(`request ${requestId} failed: ${describe(thrown)}`, thrown instanceof Error ? thrown.stack : undefined);
  return errors.internal({ cause: thrown });
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
