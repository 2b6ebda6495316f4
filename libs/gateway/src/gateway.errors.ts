/** An error of the gateway, in the shape that OpenAI clients read. */
export class GatewayError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    readonly code: string | null,
    message: string,
    readonly param: string | null = null,
    readonly headers: Readonly<Record<string, string>> = {},
    /** More members of the error object. */
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }

  body(): string {
    return errorBody(this.message, this.type, this.param, this.code, this.details);
  }
}

export function errorBody(
  message: string,
  type: string,
  param: string | null,
  code: string | null,
  details: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({ error: { message, type, param, code, ...details } });
}

const INVALID = 'invalid_request_error';
const SERVER = 'server_error';

export const missingToken = (): GatewayError =>
  new GatewayError(401, INVALID, 'invalid_api_key', "No API token: send it as 'Authorization: Bearer TOKEN'.", null, {
    'www-authenticate': 'Bearer',
  });

export const wrongToken = (): GatewayError =>
  new GatewayError(401, INVALID, 'invalid_api_key', 'The API token is not valid.', null, {
    'www-authenticate': 'Bearer error="invalid_token"',
  });

export const expiredToken = (): GatewayError =>
  new GatewayError(401, INVALID, 'token_expired', 'The API token has expired.', null, {
    'www-authenticate': 'Bearer error="invalid_token"',
  });

/** For a request that waited, or whose body was still arriving. Nothing of it was sent to a model server. */
export const endedToken = (): GatewayError =>
  new GatewayError(
    401,
    INVALID,
    'invalid_api_key',
    'The API token has ended before the request was sent to a model server.',
    null,
    { 'www-authenticate': 'Bearer error="invalid_token"' },
  );

/** Not a 401: a client with a valid token must not read that it is wrong while the database is down. */
export const tokenUnverifiable = (): GatewayError =>
  new GatewayError(503, SERVER, 'unavailable', 'The API token cannot be checked at the moment. Try again.', null, {
    'retry-after': '1',
  });

/** A request with a valid token never gets this, from any address. */
export const tooManyWrongTokens = (retryAfterSeconds: number): GatewayError =>
  new GatewayError(
    429,
    'rate_limit_error',
    'rate_limited',
    'The API token is not valid. Too many invalid tokens came from this address or were tried for this token.',
    null,
    { 'retry-after': String(retryAfterSeconds) },
  );

export const unknownPath = (method: string, path: string): GatewayError =>
  new GatewayError(404, INVALID, 'unknown_url', `Unknown request URL: ${method} ${path}. ${otherPaths(path)}`);

const otherPaths = (path: string): string =>
  path.startsWith('/api/v1/')
    ? 'This is the gateway; the api has another address.'
    : 'The paths of this gateway start with /v1/, such as /v1/chat/completions.';

export const wrongMethod = (method: string, path: string, allow: string): GatewayError =>
  new GatewayError(405, INVALID, 'method_not_allowed', `Not allowed to ${method} on ${path}: use ${allow}.`, null, {
    allow,
  });

export const invalidRequest = (reason: string): GatewayError =>
  new GatewayError(400, INVALID, 'invalid_request', `The request is not valid HTTP. ${reason}.`);

export const expectationFailed = (): GatewayError =>
  new GatewayError(417, INVALID, 'expectation_failed', "The only expectation that is met is '100-continue'.");

export const unsupportedTransferCoding = (): GatewayError =>
  new GatewayError(501, INVALID, 'unsupported_transfer_coding', "The only transfer coding that is read is 'chunked'.");

export const invalidJson = (): GatewayError =>
  new GatewayError(400, INVALID, 'invalid_json', 'The request body is not a JSON object.');

export const bodyTooDeep = (maxDepth: number): GatewayError =>
  new GatewayError(400, INVALID, 'invalid_json', `The request body is nested more than ${maxDepth} levels deep.`);

export const invalidText = (): GatewayError =>
  new GatewayError(
    400,
    INVALID,
    'invalid_json',
    'The request body is not Unicode text: it has bytes that are not UTF-8, or half of a surrogate pair such as \\ud800.',
  );

/** @param meant the name that an engine could read instead */
export const ambiguousParameter = (sent: string, meant: string): GatewayError =>
  new GatewayError(
    400,
    INVALID,
    'ambiguous_parameter',
    `A model server could read '${sent}' as '${meant}'. Send '${meant}', or leave it out.`,
    sent,
  );

export const repeatedParameter = (param: string): GatewayError =>
  new GatewayError(400, INVALID, 'ambiguous_parameter', `The request body has '${param}' twice. Send it once.`, param);

export const missingParameter = (param: string): GatewayError =>
  new GatewayError(400, INVALID, 'missing_required_parameter', `Missing required parameter: '${param}'.`, param);

export const invalidParameter = (param: string, expected: string): GatewayError =>
  new GatewayError(400, INVALID, 'invalid_value', `Invalid value for '${param}': expected ${expected}.`, param);

/** For members with which a proxy or a supplier lets a client choose a model, a server or a credential. */
export const operatorsParameter = (param: string): GatewayError =>
  new GatewayError(
    400,
    INVALID,
    'unsupported_parameter',
    `Only the operator chooses what '${param.slice(0, 100)}' would choose. Remove it.`,
    param,
  );

/**
 * @param path of the URL in the body
 * @param allowed the URLs that the rule of the model allows
 */
export const mediaUrlRefused = (path: string, reason: string, allowed: string): GatewayError =>
  new GatewayError(
    400,
    INVALID,
    'media_url_refused',
    `The URL of media at '${path}' is refused, because ${reason}. This model accepts ${allowed}.`,
    path,
  );

export const unsupportedMediaType = (): GatewayError =>
  new GatewayError(
    415,
    INVALID,
    'unsupported_media_type',
    "The request body must be 'application/json' in UTF-8, without a content encoding.",
    null,
    { accept: 'application/json', 'accept-encoding': 'identity' },
  );

export const bodyTooLarge = (maxBytes: number): GatewayError =>
  new GatewayError(413, INVALID, 'body_too_large', `The request body is larger than ${maxBytes} bytes.`);

export const bodyTooSlow = (): GatewayError =>
  new GatewayError(408, INVALID, 'request_timeout', 'The request body did not arrive in time.');

export const modelNotFound = (model: string): GatewayError =>
  new GatewayError(
    404,
    INVALID,
    'model_not_found',
    `The model '${model.slice(0, 200)}' does not exist or you do not have access to it.`,
    'model',
  );

/** @param whose the party that sends requests too fast */
export const rateLimited = (whose: string, retryAfterSeconds: number): GatewayError =>
  new GatewayError(
    429,
    'rate_limit_error',
    'rate_limit_exceeded',
    `Too many requests from ${whose}. Try again later.`,
    null,
    { 'retry-after': String(retryAfterSeconds) },
  );

export const tooManyAtOnce = (whose: string): GatewayError =>
  new GatewayError(
    429,
    'rate_limit_error',
    'concurrency_limit_exceeded',
    `Too many requests from ${whose} are in flight. Try again later.`,
    null,
    { 'retry-after': '1' },
  );

export const modelQuotaExceeded = (waitMs = 1_000): GatewayError =>
  new GatewayError(
    429,
    'rate_limit_error',
    'quota_exceeded',
    'The model has reached its request limit. Try again later.',
    null,
    { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  );

const RETRY_SOON = { 'retry-after': '1' };

/** For requests that a stopping gateway can no longer wait for. Another gateway, or its successor, serves the next. */
export const gatewayStopping = (): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'gateway_stopping',
    'The gateway is being stopped and can no longer wait for this request. Send it again.',
    null,
    RETRY_SOON,
  );

export const notReady = (): GatewayError =>
  new GatewayError(503, SERVER, 'unavailable', 'The gateway is not ready yet. Try again.', null, RETRY_SOON);

export const overloaded = (): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'overloaded',
    'The gateway has reached its limit of concurrent requests. Try again.',
    null,
    RETRY_SOON,
  );

/** @param whose the party whose requests have reached their limit of bytes */
export const tooManyBytes = (whose: string): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'overloaded',
    `The requests in flight from ${whose} have reached their limit of bytes. Try again.`,
    null,
    RETRY_SOON,
  );

export const noCapacity = (model: string): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'unavailable',
    `The model '${model.slice(0, 200)}' has no instance that can respond at the moment. Try again.`,
    null,
    RETRY_SOON,
  );

/** Only for a caller that names the deployment itself, and so belongs to its tenant. */
export const routeMissing = (deployment: string): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'unavailable',
    `The deployment '${deployment}' has no route. Set one with PUT /api/v1/deployments/${deployment}/route, or roll out with strategy 'immediate'.`,
    null,
    RETRY_SOON,
  );

/** @param estimatedSeconds the estimated time until the model is ready; null if unknown */
export const deploymentRestarting = (estimatedSeconds: number | null, retryAfterSeconds: number): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'deployment_restarting',
    'The model is being started, or replaced on a target that has capacity for one revision only. Too many requests already wait, or this request cannot wait any longer. Try again.',
    null,
    { 'retry-after': String(retryAfterSeconds) },
    { estimated_seconds: estimatedSeconds },
  );

/** @param cause a class from a closed list: the engine's own message is not for clients */
export const startFailed = (cause: string): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'start_failed',
    `The model was scaled to zero and failed to start (${cause}). The next request starts it again.`,
    null,
    RETRY_SOON,
    { cause },
  );

export const upstreamUnreachable = (): GatewayError =>
  new GatewayError(
    503,
    SERVER,
    'unavailable',
    'The model server cannot be reached at the moment. Try again.',
    null,
    RETRY_SOON,
  );

export const upstreamFailed = (): GatewayError =>
  new GatewayError(502, SERVER, 'upstream_error', 'The model server failed to process the request.');

/** Another attempt would fail in the same way, and official clients repeat a 5xx without this. */
const RETRY_NEVER = { 'x-should-retry': 'false' };

export const answerTooLarge = (): GatewayError =>
  new GatewayError(
    502,
    SERVER,
    'upstream_answer_too_large',
    'The response of the model server is too large.',
    null,
    RETRY_NEVER,
  );

export const upstreamCredentialRefused = (): GatewayError =>
  new GatewayError(
    502,
    SERVER,
    'upstream_credential_refused',
    'The model server refused the credential of the gateway. The operator must correct it.',
    null,
    RETRY_NEVER,
  );

export const upstreamModelMissing = (): GatewayError =>
  new GatewayError(
    502,
    SERVER,
    'upstream_model_missing',
    'The model server does not have the model under the configured name. The operator must correct the name or load the model.',
    null,
    RETRY_NEVER,
  );

export const upstreamNotFound = (): GatewayError =>
  new GatewayError(
    502,
    SERVER,
    'upstream_not_found',
    'The model server does not serve this path. The operator must correct its base URL.',
    null,
    RETRY_NEVER,
  );

export const upstreamRedirected = (status: number): GatewayError =>
  new GatewayError(
    502,
    SERVER,
    'upstream_redirect',
    `The model server redirected the request (status ${status}), and the gateway does not follow redirects. The operator must configure the final address.`,
    null,
    RETRY_NEVER,
  );

export const upstreamTimeout = (): GatewayError =>
  new GatewayError(504, SERVER, 'upstream_timeout', 'The model server did not respond in time.');

export const internalError = (): GatewayError =>
  new GatewayError(
    500,
    SERVER,
    'internal',
    'The gateway failed to process the request. Send the request id to the operator, who can find the cause in the logs.',
  );
