import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { oneLine } from '@slipway/platform-config';

export interface OperationStep {
  name: string;
  status: string;
  message: string;
}

export interface Operation {
  id: string;
  kind: string;
  status: string;
  progress: number;
  current_step: string;
  error_code?: string;
  message: string;
  steps: OperationStep[];
}

export interface Deployment {
  name: string;
  active_revision: string | null;
  candidate_revision: string | null;
}

/** An answer that is an error, told whole: each refused field with its own message. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    { code = 'unknown', message = '', remediation, details }: Refusal,
  ) {
    const fields = (details ?? []).map(({ field, message: problem }) => `\n  - ${field}: ${problem}`);
    super(`${status} ${code}: ${message}${fields.join('')}${remediation ? `\n  ${remediation}` : ''}`);
  }
}

interface Refusal {
  code?: string;
  message?: string;
  remediation?: string | null;
  details?: { field: string; message: string }[] | null;
}

export interface Bounds {
  /** One answer. */
  answerMs: number;
  /** An operation, from its start to its end. */
  operationMs: number;
  /** How long an api that is started again may be away. */
  awayMs: number;
}

const FINAL = new Set(['succeeded', 'failed', 'cancelled']);
const POLL_MS = 100;
const BOUNDS: Bounds = { answerMs: 30_000, operationMs: 120_000, awayMs: 15_000 };

/** The handful of calls that the demo makes, with nothing but fetch: what any client would send. */
export class ApiClient {
  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly bounds: Bounds = BOUNDS,
  ) {}

  createDeployment(body: { name: string; display_name: string; labels: Record<string, string> }): Promise<Deployment> {
    return this.call('POST', '/deployments', body);
  }

  deployment(name: string): Promise<Deployment> {
    return this.call('GET', `/deployments/${name}`);
  }

  async deploymentNames(label: string): Promise<string[]> {
    const page = await this.call<{ data: Deployment[] }>(
      'GET',
      `/deployments?limit=200&label=${encodeURIComponent(label)}`,
    );
    return page.data.map((deployment) => deployment.name);
  }

  async deleteDeployment(name: string): Promise<void> {
    await this.call('DELETE', `/deployments/${name}`);
  }

  rollout(name: string, body: object): Promise<Operation> {
    return this.operation(`/deployments/${name}/rollouts`, body);
  }

  rollback(name: string, body: object): Promise<Operation> {
    return this.operation(`/deployments/${name}/rollback`, body);
  }

  async setRoute(name: string, revision: string): Promise<void> {
    await this.call(
      'PUT',
      `/deployments/${name}/route`,
      { revision, reason: 'quickstart' },
      { 'idempotency-key': randomUUID() },
    );
  }

  /** Calls `seen` with each change of the record. @throws if the operation does not succeed, or does not end in time. */
  async follow(operation: Operation, seen: (operation: Operation) => void): Promise<Operation> {
    const deadline = performance.now() + this.bounds.operationMs;
    let now = operation;
    for (;;) {
      seen(now);
      if (FINAL.has(now.status)) break;
      if (performance.now() > deadline)
        throw new Error(
          `${now.kind} ${now.id} did not end within ${this.bounds.operationMs / 1000} s: it is ${now.status} at ${now.current_step} (${now.progress} %)${now.message ? `: ${now.message}` : ''}`,
        );
      await delay(POLL_MS);
      now = await this.call<Operation>('GET', `/operations/${operation.id}`);
    }
    if (now.status !== 'succeeded')
      throw new Error(
        `${now.kind} ${now.status}${now.error_code ? ` (${now.error_code})` : ''}: ${now.message || `see GET /api/v1/operations/${now.id}`}`,
      );
    return now;
  }

  private async operation(path: string, body: object): Promise<Operation> {
    // With a key of its own, a retry after a lost connection would find this operation instead of making a second one.
    const envelope = await this.call<{ operation: Operation }>('POST', path, body, { 'idempotency-key': randomUUID() });
    return envelope.operation;
  }

  private async call<T>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<T> {
    const response = await this.send(method, path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const answer = parsed(text);
    if (!response.ok)
      throw new ApiError(response.status, answer?.error ?? { message: text.slice(0, 300) || response.statusText });
    if (!answer) throw new Error(`${method} ${path} answered something else than JSON: ${text.slice(0, 300)}`);
    return answer as T;
  }

  /** A read is repeated while the api is away; of a write nobody would know whether it had been done. */
  private async send(method: string, path: string, request: RequestInit): Promise<Response> {
    const deadline = performance.now() + this.bounds.awayMs;
    for (;;) {
      try {
        return await fetch(`${this.url}/api/v1${path}`, {
          ...request,
          signal: AbortSignal.timeout(this.bounds.answerMs),
        });
      } catch (error) {
        if (method !== 'GET' || performance.now() > deadline)
          throw new Error(`${method} ${path}: the api at ${this.url} does not answer (${whyNoAnswer(error)})`);
        await delay(POLL_MS);
      }
    }
  }
}

function parsed(text: string): { error?: Refusal } | undefined {
  try {
    return JSON.parse(text) as { error?: Refusal };
  } catch {
    return undefined;
  }
}

/** `fetch` says only that it failed. */
export function whyNoAnswer(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return oneLine(cause ?? error);
}
