import { request, type Dispatcher } from 'undici';

/** `healthy` is a 2xx answer in time. `message` says in one sentence what came instead. */
export interface HealthAnswer {
  healthy: boolean;
  status?: number;
  message?: string;
}

/** A health answer has no business being larger; the rest of the connection is thrown away. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * One `GET` with a deadline over everything from connect to the last byte. A redirect is not followed and
 * counts as unhealthy. Never throws. `credential` is sent as a bearer token and never appears in the message.
 */
export async function probeHealth(options: {
  url: string;
  timeoutSeconds: number;
  dispatcher: Dispatcher;
  credential?: string;
}): Promise<HealthAnswer> {
  const { url, timeoutSeconds, dispatcher, credential } = options;
  const signal = AbortSignal.timeout(Math.max(1, timeoutSeconds * 1000));
  try {
    const answer = await request(url, {
      dispatcher,
      signal,
      headers: { accept: '*/*', ...(credential ? { authorization: `Bearer ${credential}` } : {}) },
    });
    const { statusCode: status } = answer;
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal });
    if (status >= 200 && status < 300) return { healthy: true, status };
    return { healthy: false, status, message: `the health probe answered ${status}` };
  } catch (error) {
    return { healthy: false, message: `the health probe failed: ${reasonOf(error, timeoutSeconds)}` };
  }
}

function reasonOf(error: unknown, timeoutSeconds: number): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return `no answer within ${timeoutSeconds} s`;
  if (name === 'EgressRefusedError') return message ?? 'refused';
  return code ?? name ?? 'unknown error';
}

/**
 * Counts failed probes in a row, per instance and generation, in memory only. A driver object therefore never
 * says `ready` unless a probe has succeeded in its own life: after a restart of the worker, evidence comes first.
 */
export class HealthHistory {
  private readonly entries = new Map<string, { failures: number; wasHealthy: boolean; generation: number }>();

  /** Notes one probe. `undecided` means: not healthy in this object's life, and fewer than `threshold` failures. */
  note(
    instanceId: string,
    generation: number,
    healthy: boolean,
    threshold: number,
  ): 'ready' | 'unhealthy' | 'undecided' {
    const known = this.entries.get(instanceId);
    const entry = known?.generation === generation ? known : { failures: 0, wasHealthy: false, generation };
    this.entries.set(instanceId, entry);
    if (healthy) {
      entry.failures = 0;
      entry.wasHealthy = true;
      return 'ready';
    }
    entry.failures += 1;
    if (entry.failures >= threshold) {
      // It has to earn `ready` again with a healthy answer.
      entry.wasHealthy = false;
      return 'unhealthy';
    }
    return entry.wasHealthy ? 'ready' : 'undecided';
  }

  forget(instanceId: string): void {
    this.entries.delete(instanceId);
  }
}
