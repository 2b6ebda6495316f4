import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** One answer that the load received. */
export interface LoadAnswer {
  at: number;
  status: number;
  /** The revision that answered, or '' if none did. */
  revision: string;
  /** A stream that ended without its last event, or a connection that broke. */
  isCut: boolean;
  /** A cut stream whose last event explains the cut. */
  isExplained: boolean;
  /** Why a connection broke. */
  error?: string;
}

export interface InferenceLoadOptions {
  /** Requests arrive at random times, with the same average rate. */
  isRandom?: boolean;
  /** Every `streams`th request is a stream; every second one by default. */
  streams?: number;
  /** Members of the body of each request, in addition to the usual ones or in place of them. */
  members?: (index: number) => object;
  /** A client leaves if its answer is not complete after this time. */
  patienceMs?: number;
}

/**
 * Sends chat requests at a steady rate until it is stopped; by default every
 * second one is a stream. It retries nothing.
 */
export class Load {
  readonly answers: LoadAnswer[] = [];
  private readonly agent = new Agent({ connections: 256, pipelining: 1 });
  private readonly pending = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private count = 0;

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly model: string,
    perSecond: number,
    private readonly options: InferenceLoadOptions = {},
  ) {
    const gapMs = () => ((options.isRandom ? -Math.log(1 - Math.random()) : 1) * 1_000) / perSecond;
    let dueAt = performance.now() + gapMs();
    this.timer = setInterval(() => {
      for (; dueAt <= performance.now(); dueAt += gapMs()) this.send(this.count++);
    }, 5);
  }

  async stop(): Promise<LoadAnswer[]> {
    clearInterval(this.timer);
    await Promise.all(this.pending);
    await this.agent.close();
    return this.answers;
  }

  private send(index: number): void {
    const one = this.ask(index).then((answer) => void this.answers.push(answer));
    this.pending.add(one);
    void one.finally(() => this.pending.delete(one));
  }

  private async ask(index: number): Promise<LoadAnswer> {
    const { streams = 2, members, patienceMs } = this.options;
    const isStream = index % streams === 0;
    let status = 0;
    let revision = '';
    let text = '';
    let error: string | undefined;
    try {
      const answer = await request(`${this.url}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: this.agent,
        signal: patienceMs === undefined ? null : AbortSignal.timeout(patienceMs),
        headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: this.model,
          stream: isStream,
          max_tokens: 8,
          messages: [{ role: 'user', content: 'hello' }],
          ...members?.(index),
        }),
      });
      status = answer.statusCode;
      revision = String(answer.headers['x-slipway-revision'] ?? '');
      for await (const chunk of answer.body) text += String(chunk);
    } catch (failure) {
      error = (failure as Error).message;
    }
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    const isShort = status === 200 && isStream && last !== 'data: [DONE]';
    return {
      at: Date.now(),
      status,
      revision,
      isCut: error !== undefined || isShort,
      isExplained: isStream && last.startsWith('data: {"error":'),
      ...(error !== undefined && { error }),
    };
  }
}

/** Makes each of these calls again and again until it is stopped, and retries nothing. */
export class RepeatedCalls {
  /** One entry for each call that ended. */
  readonly results: { at: number; error?: string }[] = [];
  private isOver = false;
  private readonly done: Promise<unknown>;

  constructor(calls: readonly (() => Promise<unknown>)[], pauseMs = 0) {
    this.done = Promise.all(calls.map((call) => this.repeat(call, pauseMs)));
  }

  async stop(): Promise<{ at: number; error?: string }[]> {
    this.isOver = true;
    await this.done;
    return this.results;
  }

  private async repeat(call: () => Promise<unknown>, pauseMs: number): Promise<void> {
    while (!this.isOver) {
      const error = await call().then(
        () => undefined,
        (failure: Error) => failure.message,
      );
      this.results.push({ at: Date.now(), ...(error !== undefined && { error }) });
      if (pauseMs > 0) await delay(pauseMs);
    }
  }
}
