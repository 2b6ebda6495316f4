import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

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

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(`${status} ${code}: ${message}`);
  }
}

const FINAL = new Set(['succeeded', 'failed', 'cancelled']);
const POLL_MS = 100;

/** The handful of calls that the demo makes, with nothing but fetch: what any client would send. */
export class ApiClient {
  constructor(
    private readonly url: string,
    private readonly token: string,
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

  /** Calls `seen` with each change of the record. @throws if the operation does not succeed. */
  async follow(operation: Operation, seen: (operation: Operation) => void): Promise<Operation> {
    let now = operation;
    for (;;) {
      seen(now);
      if (FINAL.has(now.status)) break;
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
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = (await response.json()) as { error?: { code: string; message: string } };
    if (!response.ok)
      throw new ApiError(
        response.status,
        answer.error?.code ?? 'unknown',
        answer.error?.message ?? response.statusText,
      );
    return answer as T;
  }
}
