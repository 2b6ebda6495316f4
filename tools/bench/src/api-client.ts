import { setTimeout as delay } from 'node:timers/promises';

/** The few calls that prepare a benchmark. */
export class ApiClient {
  constructor(
    private readonly url: string,
    private readonly headers: Record<string, string>,
  ) {}

  async call(method: string, target: string, body?: unknown): Promise<any> {
    const init = {
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const answer = await fetch(`${this.url}/api/v1${target}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Waits for the end of an operation. @throws if it does not succeed */
  async succeeded(id: string): Promise<void> {
    for (const deadline = Date.now() + 30_000; ;) {
      const { status, message } = await this.call('GET', `/operations/${id}`);
      if (status === 'succeeded') return;
      if (['failed', 'cancelled'].includes(status) || Date.now() > deadline)
        throw new Error(`operation ${id} is ${status}: ${message}`);
      await delay(20);
    }
  }
}
