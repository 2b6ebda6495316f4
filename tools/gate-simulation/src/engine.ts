/** How an engine divides its time between requests. */
export interface EngineKind {
  /** The most requests in progress at once; others wait in order. */
  concurrency: number;
  /**
   * With n requests in progress, each takes 1 + slowdown · (n − 1) times as long as alone: 1 divides the capacity of
   * one, 0 never slows down.
   */
  slowdown: number;
}

export const ENGINES = {
  /** One request after another. */
  serial: { concurrency: 1, slowdown: 1 },
  /** All at once; each is slowed down by the others. */
  shared: { concurrency: Infinity, slowdown: 1 },
  /** Batches that increase throughput: at most 4 times as many answers as one request after another. */
  batched: { concurrency: Infinity, slowdown: 0.25 },
} as const satisfies Record<string, EngineKind>;

export type EngineName = keyof typeof ENGINES;

/** The highest number of answers of an engine in a unit of time. */
export function capacityOf({ concurrency, slowdown }: EngineKind, workMs: number): number {
  return (concurrency === 1 ? 1 : 1 / slowdown) / workMs;
}

interface Job<Request> {
  request: Request;
  /** In the engine's own time, which runs slower the more requests are in progress. */
  firstTokenAt: number;
  endAt: number;
  hasFirstToken: boolean;
}

export interface EngineEvent<Request> {
  at: number;
  request: Request;
  what: 'first_token' | 'end';
}

/** A discrete-event engine. Times in virtual milliseconds. */
export class Engine<Request> {
  private readonly running: Job<Request>[] = [];
  private readonly waiting: { request: Request; firstTokenMs: number; workMs: number }[] = [];
  private ownTime = 0;
  private at = 0;

  constructor(private readonly kind: EngineKind) {}

  /** @param workMs duration of the request alone; the first token comes after `firstTokenMs` of it */
  arrive(at: number, request: Request, firstTokenMs: number, workMs: number): void {
    this.advance(at);
    if (this.running.length >= this.kind.concurrency) this.waiting.push({ request, firstTokenMs, workMs });
    else this.begin(request, firstTokenMs, workMs);
  }

  /** The next event, if it is before `until`. */
  next(until: number): EngineEvent<Request> | undefined {
    let soonest: Job<Request> | undefined;
    for (const job of this.running) if (!soonest || dueOf(job) < dueOf(soonest)) soonest = job;
    if (!soonest) return undefined;
    const at = this.at + (dueOf(soonest) - this.ownTime) / this.speed;
    if (at > until) return undefined;
    this.advance(at);
    const { request } = soonest;
    if (!soonest.hasFirstToken) {
      soonest.hasFirstToken = true;
      return { at, request, what: 'first_token' };
    }
    this.running.splice(this.running.indexOf(soonest), 1);
    const waiting = this.waiting.shift();
    if (waiting) this.begin(waiting.request, waiting.firstTokenMs, waiting.workMs);
    return { at, request, what: 'end' };
  }

  private get speed(): number {
    return 1 / (1 + this.kind.slowdown * (this.running.length - 1));
  }

  private advance(at: number): void {
    if (this.running.length > 0) this.ownTime += (at - this.at) * this.speed;
    this.at = at;
  }

  private begin(request: Request, firstTokenMs: number, workMs: number): void {
    this.running.push({
      request,
      firstTokenAt: this.ownTime + firstTokenMs,
      endAt: this.ownTime + workMs,
      hasFirstToken: false,
    });
  }
}

function dueOf({ hasFirstToken, firstTokenAt, endAt }: Job<unknown>): number {
  return hasFirstToken ? endAt : firstTokenAt;
}
