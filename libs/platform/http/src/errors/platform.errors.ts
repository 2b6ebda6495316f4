import { defineErrors } from './slipway-error.js';

/** The failures that belong to no area. */
export const errors = defineErrors({
  invalid_json: {
    status: 400,
    category: 'invalid_request',
    message: 'The request body is not valid JSON.',
    remediation: 'Send a JSON object encoded as UTF-8.',
  },
  invalid_parameter: {
    status: 400,
    category: 'invalid_request',
    message: 'A parameter is malformed or has the wrong type.',
    remediation: 'Correct the fields named in details.',
  },
  idempotency_key_invalid: {
    status: 400,
    category: 'invalid_request',
    message: 'The Idempotency-Key header must hold 1 to 128 visible ASCII characters.',
    remediation: 'Send one key, for example a UUID.',
  },
  path_invalid: {
    status: 400,
    category: 'invalid_request',
    message: 'The request path cannot be read.',
    remediation: 'Percent-encode path segments as UTF-8 and keep each below 1024 characters.',
  },
  unauthenticated: {
    status: 401,
    category: 'authentication',
    message: 'A valid bearer token is required.',
    remediation: 'Send Authorization: Bearer <token> with an active token.',
  },
  token_expired: {
    status: 401,
    category: 'authentication',
    message: 'The token has expired.',
    remediation: 'Create a new token.',
  },
  scope_insufficient: {
    status: 403,
    category: 'permission',
    message: 'The token does not carry the scope this operation needs.',
    remediation: 'Use a token with the required scope.',
  },
  not_found: { status: 404, category: 'not_found', message: 'There is nothing at this path.' },
  method_not_allowed: {
    status: 405,
    category: 'invalid_request',
    message: 'This path does not support the method.',
    remediation: 'Use one of the methods named in the Allow header.',
  },
  request_timeout: {
    status: 408,
    category: 'invalid_request',
    retryable: true,
    message: 'The request did not arrive in time.',
  },
  idempotency_in_progress: {
    status: 409,
    category: 'conflict',
    retryable: true,
    message: 'The first request with this Idempotency-Key is still being worked on.',
    remediation: 'Retry after the time given in Retry-After.',
  },
  precondition_failed: {
    status: 412,
    category: 'precondition',
    message: 'The resource has changed since it was read.',
    remediation: 'Read the resource again and send its current ETag in If-Match.',
  },
  body_too_large: { status: 413, category: 'limit', message: 'The request body is larger than max_bytes.' },
  unsupported_media_type: {
    status: 415,
    category: 'invalid_request',
    message: 'The content type of the request body is not supported here.',
    remediation: 'Send Content-Type: application/json.',
  },
  expectation_failed: {
    status: 417,
    category: 'invalid_request',
    message: 'The only supported expectation is 100-continue.',
  },
  validation_failed: {
    status: 422,
    category: 'invalid_request',
    message: 'The request is well-formed but breaks a rule.',
    remediation: 'Correct the fields named in details.',
  },
  idempotency_key_reused: {
    status: 422,
    category: 'invalid_request',
    message: 'This Idempotency-Key was used before with another request.',
    remediation: 'Use a new key for a new request.',
  },
  rate_limited: {
    status: 429,
    category: 'limit',
    retryable: true,
    message: 'Too many requests with this token.',
    remediation: 'Wait for the time given in Retry-After.',
  },
  headers_too_large: { status: 431, category: 'limit', message: 'The request line and headers are too large.' },
  internal: {
    status: 500,
    category: 'internal',
    message: 'The service failed to process the request.',
    remediation: 'Quote request_id when you report this.',
  },
  upstream_error: {
    status: 502,
    category: 'upstream',
    retryable: true,
    message: 'A system the service depends on gave a bad answer.',
  },
  unavailable: {
    status: 503,
    category: 'upstream',
    retryable: true,
    message: 'The service cannot reach a system it depends on.',
    remediation: 'Retry after the time given in Retry-After.',
  },
});
