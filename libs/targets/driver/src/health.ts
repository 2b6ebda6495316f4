import { timeLimit } from '@slipway/contracts';
import { request, type Dispatcher } from 'undici';

/**
 * `isHealthy`: a 2xx answer arrived in time. Otherwise `message` describes the answer in one sentence, and `cause` says
 * why none arrived.
 */
export interface HealthAnswer {
  isHealthy: boolean;
  status?: number;
  cause?: string;
  message?: string;
}

/** No health answer needs more. The rest of the connection is discarded. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends one `GET` with a deadline for everything from connect to the last byte. A redirect is not followed and counts
 * as unhealthy. Never throws. `credential` is sent as a bearer token and never appears in the message.
 */
export async function probeHealth(options: {
  url: string;
  timeoutSeconds: number;
  dispatcher: Dispatcher;
  credential?: string;
}): Promise<HealthAnswer> {
  const { url, timeoutSeconds, dispatcher, credential } = options;
  const { signal, stop } = timeLimit(timeoutSeconds * 1000);
  try {
    const answer = await request(url, {
      dispatcher,
      signal,
      headers: { accept: '*/*', ...(credential ? { authorization: `Bearer ${credential}` } : {}) },
    });
    const { statusCode: status } = answer;
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal });
    if (status >= 200 && status < 300) return { isHealthy: true, status };
    return { isHealthy: false, status, message: `the health probe returned ${status}` };
  } catch (error) {
    const cause = causeOf(error, timeoutSeconds);
    return { isHealthy: false, cause, message: `the health probe failed: ${cause}` };
  } finally {
    stop();
  }
}

const CAUSES: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ECONNRESET: 'the connection was closed before a response arrived',
  EPIPE: 'the connection was closed before a response arrived',
  UND_ERR_SOCKET: 'the connection was closed before a response arrived',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'no network route to the address',
  ENETUNREACH: 'no network route to the address',
};
const TIMEOUTS = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const TLS = /^(EPROTO|ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Why a request got no answer, for people. It never contains what the other side wrote or what was sent to it. */
export function causeOf(error: unknown, timeoutSeconds: number): string {
  const { name, code = '', message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError' || TIMEOUTS.has(code)) return `no response within ${timeoutSeconds} s`;
  if (name === 'EgressRefusedError') return message ?? 'refused';
  if (TLS.test(code)) return `TLS failed (${code})`;
  if (name === 'HTTPParserError') return 'the response is not HTTP';
  return CAUSES[code] ?? (code || name || 'unknown error');
}

/**
 * Counts failed probes in a row, per instance and generation, in memory only. A driver object therefore reports `ready`
 * only after a probe has succeeded in its own life, also after a restart of the worker.
 */
export class HealthHistory {
  private readonly entries = new Map<string, { failures: number; wasHealthy: boolean; generation: number }>();

  /** Counts one probe. `undecided` means: not healthy in this object's life, and fewer than `threshold` failures. */
  note(
    instanceId: string,
    generation: number,
    isHealthy: boolean,
    threshold: number,
  ): 'ready' | 'unhealthy' | 'undecided' {
    const known = this.entries.get(instanceId);
    const entry = known?.generation === generation ? known : { failures: 0, wasHealthy: false, generation };
    this.entries.set(instanceId, entry);
    if (isHealthy) {
      entry.failures = 0;
      entry.wasHealthy = true;
      return 'ready';
    }
    entry.failures += 1;
    if (entry.failures >= threshold) {
      // The instance needs a healthy answer to become `ready` again.
      entry.wasHealthy = false;
      return 'unhealthy';
    }
    return entry.wasHealthy ? 'ready' : 'undecided';
  }

  forget(instanceId: string): void {
    this.entries.delete(instanceId);
  }
}
