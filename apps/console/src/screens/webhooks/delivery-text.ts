import type { Delivery } from '../../api/items.js';

const WHY: Record<string, string> = {
  redirect: 'redirects are not followed',
  timeout: 'no response in time',
  connection_failed: 'connection failed',
  tls_failed: 'TLS failed',
  invalid_response: 'the response is not valid HTTP',
  response_cut: 'the response did not end in time',
  address_refused: 'webhooks may not use this address',
  event_expired: 'delivery stopped after about three days',
};

/** Describes the receiver's answer to the last attempt. */
export function responseText({ attempts, response_status, error }: Delivery): string {
  if (response_status !== null) {
    const why = error && WHY[error];
    return why ? `${response_status}: ${why}` : String(response_status);
  }
  if (error) return WHY[error] ?? error.replaceAll('_', ' ');
  return attempts === 0 ? 'not sent yet' : 'no response';
}
