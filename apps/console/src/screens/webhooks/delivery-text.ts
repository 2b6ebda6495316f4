import type { Delivery } from '../../api/items.js';

const WHY: Record<string, string> = {
  redirect: 'it led elsewhere, and redirects are not followed',
  timeout: 'no answer in time',
  connection_failed: 'no connection',
  address_refused: 'its address is none that webhooks may go to',
  event_expired: 'it was given up after about three days',
};

/** What the receiver made of the last attempt. */
export function responseText({ attempts, response_status, error }: Delivery): string {
  if (response_status !== null) {
    const why = error && WHY[error];
    return why ? `${response_status}: ${why}` : String(response_status);
  }
  if (error) return WHY[error] ?? error.replaceAll('_', ' ');
  return attempts === 0 ? 'not sent yet' : 'no answer';
}
