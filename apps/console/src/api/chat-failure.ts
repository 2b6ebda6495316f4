import { SlipwayError } from '@slipway/sdk';

/** An engine's refusal may have any length; its message is at its beginning. */
const MOST_BYTES = 64 * 1024;
const LONGEST_MESSAGE = 2_000;

/** The remedies for the gateway's errors, for a person on this page. */
const REMEDIES: Record<string, string> = {
  model_not_found: 'Choose another model. A deployment must have a route, and a slug must be published.',
  missing_required_parameter:
    'The model requires a parameter that this page does not send. Copy the request as curl and add it.',
  invalid_value: 'Correct the setting that the message names.',
  context_length_exceeded: 'Clear the conversation, or lower Max tokens.',
  body_too_large: 'Clear the conversation. Each request sends all of it.',
  rate_limit_exceeded: 'Wait a moment, then send the message again.',
  concurrency_limit_exceeded: 'Wait until your other requests have ended.',
  quota_exceeded: 'Wait a moment, then send the message again.',
  upstream_error: 'Check the logs of the instance on the deployment page.',
  unavailable: 'Try again in a moment. If the error persists, check the instances on the deployment page.',
  deployment_restarting: 'The model is being replaced. Try again in a moment.',
  start_failed: 'The model was scaled to zero and could not start. Check the instances on the deployment page.',
  overloaded: 'Try again in a moment.',
  upstream_timeout: 'Lower Max tokens, or choose another model.',
  invalid_api_key: 'Sign in again.',
  token_expired: 'Sign in again.',
  unauthenticated: 'Sign in again.',
};

/** Converts the gateway's `error`, from a complete answer or from a stream, into an error that the page can show. */
export function chatFailure(error: Record<string, unknown>, response: Response): SlipwayError {
  const textOf = (name: string) =>
    typeof error[name] === 'string' ? error[name].slice(0, LONGEST_MESSAGE) : undefined;
  const code = textOf('code') ?? textOf('type') ?? `status_${response.status}`;
  const message = textOf('message') ?? `The request failed with status ${response.status}.`;
  const retryable = [408, 429, 502, 503, 504].includes(response.status);
  const remediation = textOf('remediation') ?? remedyOf(code, response.status);
  const after = response.headers.get('retry-after');
  return new SlipwayError(message, {
    code,
    retryable,
    status: response.status,
    body: {
      code,
      message,
      retryable,
      category: retryable ? 'upstream' : 'invalid_request',
      remediation: after && /^\d{1,6}$/.test(after) ? `${remediation} Wait ${after} s.`.trim() : remediation,
      request_id: response.headers.get('x-request-id')?.slice(0, 128) ?? '',
    },
  });
}

/** An engine has its own codes, so the status decides for those. */
function remedyOf(code: string, status: number): string {
  if (Object.hasOwn(REMEDIES, code)) return REMEDIES[code]!;
  if (status >= 400 && status < 500) return 'Correct the request as the message describes.';
  return 'The engine failed. Try again, or check the logs of its instance on the deployment page.';
}

/** Converts an answer without success, from any server, into an error. */
export async function refusalOf(response: Response): Promise<SlipwayError> {
  const text = await beginningOf(response);
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'object' && error !== null) return chatFailure(error as Record<string, unknown>, response);
  } catch {
    // A proxy in between may answer with a page: then only the status is known.
  }
  return chatFailure({}, response);
}

async function beginningOf({ body }: Response): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; bytes < MOST_BYTES;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
