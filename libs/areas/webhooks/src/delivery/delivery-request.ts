import { request, type Dispatcher } from 'undici';

/** More of an answer is not read: nobody looks at it, and the connection can be used again. */
const MAX_ANSWER_BYTES = 16_384;

/** Why an attempt failed: stable codes, without a word of what the other side or our resolver said. */
export type DeliveryError =
  'http_status' | 'redirect' | 'timeout' | 'connection_failed' | 'address_refused' | 'event_expired';

export type DeliveryOutcome =
  | { kind: 'accepted'; status: number }
  | { kind: 'refused'; status: number | null; error: DeliveryError }
  /** This process stops; whether the request arrived is not known. */
  | { kind: 'interrupted' };

export interface DeliveryRequest {
  dispatcher: Dispatcher;
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  interruption: AbortSignal;
}

/** Posts one event. Any 2xx accepts it; redirects are not followed, because nobody has judged where they lead. */
export async function postEvent({
  dispatcher,
  url,
  headers,
  body,
  timeoutMs,
  interruption,
}: DeliveryRequest): Promise<DeliveryOutcome> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), interruption]);
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
    // The status has decided; a rest that does not come changes nothing.
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
    return outcomeOf(answer.statusCode);
  } catch (failure) {
    if (interruption.aborted) return { kind: 'interrupted' };
    return { kind: 'refused', status: null, error: errorOf(failure) };
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
