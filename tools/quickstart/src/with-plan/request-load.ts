import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { timeLimit } from '@slipway/contracts';
import { whyNoAnswer } from '../demo/failure-text.js';

/** More requests than this wait for nothing: the model server is stuck, and the machine must not fill up. */
const MOST_IN_FLIGHT = 60;
const ANSWER_MS = 60_000;
/** So many failures in a row mean that the next request would fail too. */
const FAILURES_IN_A_ROW = 20;

export interface LoadDestination {
  gatewayUrl: string;
  token: string;
  /** Name of the deployment. */
  model: string;
}

/**
 * Clients that come by chance, at a rate on average. Requests are short and not streamed, so that they cost little
 * processor time.
 */
export class RequestLoad {
  answered = 0;
  private inFlight = 0;
  private failuresInARow = 0;
  private lastFailure = '';
  private readonly ended = new AbortController();
  private ratePerSecond = 0;
  private running: Promise<void> | undefined;

  constructor(
    private readonly destination: LoadDestination,
    private readonly random: () => number = Math.random,
  ) {}

  /** Sends so many requests per second from now on. */
  setRate(perSecond: number): void {
    this.ratePerSecond = perSecond;
    this.running ??= this.run();
  }

  /** Resolves when no request is in flight; those that are get no answer. */
  async stop(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  /** @throws Error if no request has been answered lately */
  assertAnswered(): void {
    if (this.failuresInARow >= FAILURES_IN_A_ROW)
      throw new Error(`the last ${this.failuresInARow} requests through the gateway failed: ${this.lastFailure}`);
  }

  private async run(): Promise<void> {
    const { signal } = this.ended;
    const open = new Set<Promise<void>>();
    // Each request in flight and its timer listen; Node warns of more than ten, as of a leak.
    setMaxListeners(2 * MOST_IN_FLIGHT, signal);
    let nextAt = performance.now();
    while (!signal.aborted) {
      // Times between independent clients are exponential.
      nextAt = Math.max(performance.now(), nextAt - (Math.log(1 - this.random()) * 1_000) / this.ratePerSecond);
      await delay(nextAt - performance.now(), undefined, { signal }).catch(() => undefined);
      if (signal.aborted || this.inFlight >= MOST_IN_FLIGHT) continue;
      const request = this.send().finally(() => open.delete(request));
      open.add(request);
    }
    await Promise.all(open);
  }

  private async send(): Promise<void> {
    this.inFlight += 1;
    const limit = timeLimit(ANSWER_MS, this.ended.signal);
    try {
      await this.ask(limit.signal);
      this.answered += 1;
      this.failuresInARow = 0;
    } catch (error) {
      if (this.ended.signal.aborted) return;
      this.failuresInARow += 1;
      this.lastFailure = error instanceof TypeError ? whyNoAnswer(error) : (error as Error).message;
    } finally {
      limit.stop();
      this.inFlight -= 1;
    }
  }

  private async ask(signal: AbortSignal): Promise<void> {
    const { gatewayUrl, token, model } = this.destination;
    const response = await fetch(`${gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
      signal,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the gateway returned ${response.status}: ${text.slice(0, 300)}`);
  }
}
