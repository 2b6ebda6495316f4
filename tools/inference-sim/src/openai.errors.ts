/** An answer other than success, in the shape that the OpenAI clients read. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly param: string | null = null,
    readonly code: string | null = null,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }

  body(): string {
    return JSON.stringify({ error: { message: this.message, type: this.type, param: this.param, code: this.code } });
  }
}

const INVALID = 'invalid_request_error';
const SERVER = 'server_error';

export const invalidJson = (): ApiError =>
  new ApiError(
    400,
    INVALID,
    'We could not parse the JSON body of your request: it must be a JSON object.',
    null,
    'invalid_json',
  );

export const missingParameter = (param: string): ApiError =>
  new ApiError(400, INVALID, `Missing required parameter: '${param}'.`, param, 'missing_required_parameter');

export const invalidParameter = (param: string, expected: string): ApiError =>
  new ApiError(400, INVALID, `Invalid value for '${param}': expected ${expected}.`, param, 'invalid_value');

export const wrongKey = (isGiven: boolean): ApiError => {
  const message = isGiven
    ? 'Incorrect API key provided.'
    : "You didn't provide an API key: send it as 'Authorization: Bearer KEY'.";
  return new ApiError(401, INVALID, message, null, 'invalid_api_key', { 'www-authenticate': 'Bearer' });
};

export const modelNotFound = (model: string): ApiError =>
  new ApiError(
    404,
    INVALID,
    `The model '${model}' does not exist or you do not have access to it.`,
    'model',
    'model_not_found',
  );

export const unknownUrl = (method: string, path: string): ApiError =>
  new ApiError(404, INVALID, `Unknown request URL: ${method} ${path}.`, null, 'unknown_url');

export const wrongMethod = (method: string, path: string, allow: string): ApiError =>
  new ApiError(405, INVALID, `Not allowed to ${method} on ${path}: use ${allow}.`, null, 'method_not_supported', {
    allow,
  });

export const contextTooLong = (prompt: number, completion: number, limit: number): ApiError =>
  new ApiError(
    400,
    INVALID,
    `The request needs ${prompt + completion} tokens (${prompt} of the prompt, ${completion} of the completion), but the KV cache holds ${limit}. Shorten the prompt or lower 'max_tokens'.`,
    null,
    'context_length_exceeded',
  );

export const bodyTooLarge = (maxBytes: number): ApiError =>
  new ApiError(413, INVALID, `The request body is larger than ${maxBytes} bytes.`, null, 'request_too_large');

export const injectedFailure = (): ApiError =>
  new ApiError(
    500,
    SERVER,
    'The server had an error while processing your request (simulated by --error-rate).',
    null,
    'injected_failure',
  );

export const internalFailure = (): ApiError =>
  new ApiError(500, SERVER, 'The simulator failed. See its standard error for the reason.', null, 'internal');

export const notReady = (): ApiError =>
  new ApiError(503, SERVER, 'The model is still loading.', null, 'model_loading', { 'retry-after': '1' });
