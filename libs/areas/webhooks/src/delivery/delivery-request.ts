import { retryAfterMs, timeLimit } from '@slipway/contracts';
import type { GuardedPost } from '@slipway/platform-egress';

/** The rest of a longer answer is not read, because it is not used. */
const MAX_ANSWER_BYTES = 16_384;

/** The faults of attempts: stable codes that quote neither the other side nor the resolver. */
export const DELIVERY_ERRORS = [
  'http_status',
  'redirect',
  'timeout',
  'connection_failed',
  'tls_failed',
  'invalid_response',
  'address_refused',
  'event_expired',
  // The only one of an accepted event: the status came, but not the end of the answer.
  'response_cut',
] as const;
export type DeliveryError = (typeof DELIVERY_ERRORS)[number];

export type DeliveryOutcome =
  | { kind: 'accepted'; status: number; error: 'response_cut' | null; durationMs: number }
  | DeliveryRefusal
  /** This process stops; it is unknown whether the request arrived. */
  | { kind: 'interrupted' };

/** The result of an attempt that was not accepted. */
export interface DeliveryRefusal {
  kind: 'refused';
  status: number | null;
  error: DeliveryError;
  durationMs: number;
  /** The wait that the receiver requests. */
  retryAfterMs?: number;
}

export interface DeliveryRequest {
  client: GuardedPost;
  url: string;
  headers: Record<string, string>;
  body: string;
  /** For everything: the name, the connection, the request and the whole answer. */
  timeoutMs: number;
  interruption: AbortSignal;
}

/** Posts one event. Any 2xx accepts it. Redirects are not followed, because their destination has not been checked. */
export async function postEvent({
  client,
  url,
  headers,
  body,
  timeoutMs,
  interruption,
}: DeliveryRequest): Promise<DeliveryOutcome> {
  const begun = performance.now();
  const durationMs = () => Math.round(performance.now() - begun);
  const { signal, stop } = timeLimit(timeoutMs, interruption);
  try {
    const answer = await untilAborted(
      client.send(url, {
        body,
        signal,
        headers: {
          'content-type': 'application/cloudevents+json; charset=utf-8',
          'user-agent': 'slipway-webhooks/1',
          ...headers,
        },
      }),
      signal,
    );
    const { status } = answer;
    // The status has decided. The rest of the answer changes nothing, even if it never arrives.
    const hasEnded = await untilAborted(drain(answer.body), signal).catch(() => false);
    if (status >= 200 && status < 300) {
      const error = hasEnded || interruption.aborted ? null : 'response_cut';
      return { kind: 'accepted', status, error, durationMs: durationMs() };
    }
    return {
      kind: 'refused',
      status,
      error: status >= 300 && status < 400 ? 'redirect' : 'http_status',
      durationMs: durationMs(),
      retryAfterMs: retryAfterMs(answer.headers['retry-after'], answer.headers['date'], Date.now()),
    };
  } catch (failure) {
    if (interruption.aborted) return { kind: 'interrupted' };
    return { kind: 'refused', status: null, error: errorOf(failure), durationMs: durationMs() };
  } finally {
    stop();
  }
}

/** The time limit depends on no client: a look-up of a name, for example, cannot be ended. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** @returns whether the answer came to its end, or to the most that is read of it; leaving the loop closes it */
async function drain(answer: AsyncIterable<Buffer>): Promise<boolean> {
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) break;
  }
  return true;
}

const TLS_FAILED = /^(ERR_(SSL|TLS)_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CRL_|EPROTO$|HOSTNAME_MISMATCH)/;
const INVALID_RESPONSE = /^HPE_/;

function errorOf(failure: unknown): DeliveryError {
  const { name, code = '' } = failure as { name?: string; code?: string };
  if (code === 'EGRESS_REFUSED') return 'address_refused';
  if (name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code)) return 'timeout';
  if (TLS_FAILED.test(code)) return 'tls_failed';
  if (INVALID_RESPONSE.test(code)) return 'invalid_response';
  return 'connection_failed';
}
