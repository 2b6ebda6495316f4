/** How an engine shares its time. */
export interface EngineKind {
  /** At most so many are worked on at once; others wait in order. */
  concurrency: number;
  /** With n in work, each is 1 + slowdown · (n − 1) times as slow as alone: 1 shares the time of one, 0 never slows down. */
  slowdown: number;
}

export const ENGINES = {
  /** One request after another. */
  serial: { concurrency: 1, slowdown: 1 },
  /** All at once, each as much slower as there are more. */
  shared: { concurrency: Infinity, slowdown: 1 },
  /** Batches that gain throughput: alone 1, at most 4 times as many answers in the same time. */
  batched: { concurrency: Infinity, slowdown: 0.25 },
} as const satisfies Record<string, EngineKind>;

export type EngineName = keyof typeof ENGINES;

/** Answers of an engine in a unit of time, at most. */
export function capacityOf({ concurrency, slowdown }: EngineKind, workMs: number): number {
  return (concurrency === 1 ? 1 : 1 / slowdown) / workMs;
}

interface Job<Request> {
  request: Request;
  /** In time of the engine's own, which goes slower the more it works on. */
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

  /** @param workMs what it takes alone; the first token comes after `firstTokenMs` of it */
  arrive(at: number, request: Request, firstTokenMs: number, workMs: number): void {
    this.advance(at);
    if (this.running.length >= this.kind.concurrency) this.waiting.push({ request, firstTokenMs, workMs });
    else this.begin(request, firstTokenMs, workMs);
  }

  /** What happens next, if it is before `until`. */
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
