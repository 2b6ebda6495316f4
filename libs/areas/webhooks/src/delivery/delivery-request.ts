import { timeLimit } from '@slipway/contracts';
import { request, type Dispatcher } from 'undici';

/** The rest of a longer answer is not read: it is not used, and the connection can be reused. */
const MAX_ANSWER_BYTES = 16_384;

/** The reason why an attempt failed: stable codes that quote neither the other side nor the resolver. */
export type DeliveryError =
  'http_status' | 'redirect' | 'timeout' | 'connection_failed' | 'address_refused' | 'event_expired';

export type DeliveryOutcome =
  | { kind: 'accepted'; status: number }
  | { kind: 'refused'; status: number | null; error: DeliveryError }
  /** This process stops; it is unknown whether the request arrived. */
  | { kind: 'interrupted' };

export interface DeliveryRequest {
  dispatcher: Dispatcher;
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  interruption: AbortSignal;
}

/** Posts one event. Any 2xx accepts it. Redirects are not followed, because their destination has not been checked. */
export async function postEvent({
  dispatcher,
  url,
  headers,
  body,
  timeoutMs,
  interruption,
}: DeliveryRequest): Promise<DeliveryOutcome> {
  const { signal, stop } = timeLimit(timeoutMs, interruption);
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      body,
      signal,
      headers: {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': 'slipway-webhooks/1',
        ...headers,
      },
    });
    // The status has decided. The rest of the answer changes nothing, even if it never arrives.
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
    return outcomeOf(answer.statusCode);
  } catch (failure) {
    if (interruption.aborted) return { kind: 'interrupted' };
    return { kind: 'refused', status: null, error: errorOf(failure) };
  } finally {
    stop();
  }
}

function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted', status };
  return { kind: 'refused', status, error: status >= 300 && status < 400 ? 'redirect' : 'http_status' };
}

function errorOf(failure: unknown): DeliveryError {
  const { name, code } = failure as { name?: string; code?: string };
  if (code === 'EGRESS_REFUSED') return 'address_refused';
  if (name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code ?? '')) return 'timeout';
  return 'connection_failed';
}
