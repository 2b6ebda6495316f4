import { iterationProblem, type IterationSettings } from './iteration-settings.js';
import { randomFrom } from './random.js';

/** The tokens that a request needs. */
export interface Work {
  promptTokens: number;
  /** Tokens of the answer, after which the sequence ends. */
  tokens: number;
}

/** A request in the scheduler. */
export interface Sequence<Request> extends Readonly<Work> {
  readonly request: Request;
  /** Tokens of the answer so far. */
  readonly generated: number;
}

interface Member<Request> extends Sequence<Request> {
  generated: number;
  readonly arrivedAt: number;
  readonly isSlow: boolean;
  state: 'waiting' | 'running' | 'ended';
  /** Tokens of prompt and answer that are computed. The newest token of the answer is not, until the next iteration. */
  computed: number;
  /** Tokens of the KV cache that are reserved for it. */
  held: number;
  /** Tokens that the current iteration computes of it. */
  chunk: number;
}

/**
 * Continuous batching, as inference engines do it. Each iteration computes one token of every running sequence, and
 * fills the rest of its token budget with chunks of prompts. The iteration that computes the end of a prompt generates
 * the first token. Sequences begin in the order of their arrival.
 *
 * A sequence reserves the KV cache for all its tokens when it begins, and one more for each that it generates. If the
 * cache is full, the sequence that began last is preempted: it loses its tokens, waits as the first of the queue, and
 * is computed again from the start of its prompt.
 *
 * Pure, in milliseconds of the caller's clock, which may be virtual: the caller passes the time, and calls `advance`
 * when `nextAt` has come.
 */
export class IterationScheduler<Request> {
  private readonly random: () => number;
  private readonly queue: Member<Request>[] = [];
  /** In the order in which they began. */
  private readonly active: Member<Request>[] = [];
  /** The sequences of the current iteration. */
  private batch: Member<Request>[] = [];
  private next = Infinity;
  private arrivals = 0;
  private held = 0;
  private preempted = 0;

  /** @throws RangeError for settings with which no sequence could end */
  constructor(private readonly settings: IterationSettings) {
    const problem = iterationProblem(settings);
    if (problem !== undefined) throw new RangeError(problem);
    this.random = randomFrom(settings.seed);
  }

  /** When the current iteration ends, or the next one begins; Infinity if there is nothing to do. */
  get nextAt(): number {
    return this.next;
  }

  get running(): number {
    return this.active.length;
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** Reserved share of the KV cache, 0..1. */
  get kvUsage(): number {
    return this.held / this.settings.kvTokens;
  }

  /** How often a sequence has lost its tokens. */
  get preemptions(): number {
    return this.preempted;
  }

  /** Returns whether the KV cache can hold the request at all. */
  fits({ promptTokens, tokens }: Work): boolean {
    return promptTokens + tokens <= this.settings.kvTokens;
  }

  /**
   * Adds a request. It joins the first iteration that begins at `now` or later and has capacity for it.
   * @param now not before the time of an earlier call
   * @throws RangeError unless both numbers of tokens are whole, at least 1, and fit together
   */
  submit(now: number, request: Request, { promptTokens, tokens }: Work): Sequence<Request> {
    const areCounts = [promptTokens, tokens].every((count) => Number.isInteger(count) && count >= 1);
    if (!areCounts || !this.fits({ promptTokens, tokens }))
      throw new RangeError(`a request of ${promptTokens} + ${tokens} tokens cannot be scheduled`);
    const member: Member<Request> = {
      request,
      promptTokens,
      tokens,
      arrivedAt: now,
      isSlow: this.arrivals < this.settings.slowRequests,
      state: 'waiting',
      generated: 0,
      computed: 0,
      held: 0,
      chunk: 0,
    };
    this.arrivals += 1;
    this.queue.push(member);
    if (this.next === Infinity) this.next = now;
    return member;
  }

  /** Removes a request whose client has left. The current iteration takes as long as before. */
  abort(sequence: Sequence<Request>): void {
    const member = sequence as Member<Request>;
    if (member.state === 'waiting') this.queue.splice(this.queue.indexOf(member), 1);
    if (member.state === 'running') this.release(member);
    member.state = 'ended';
  }

  /**
   * Ends the iterations that are due by `now`, and begins the next one. A late call loses no time: iterations follow
   * one another as if each call had been in time.
   * @param onToken called for each new token of a sequence, with the time when it was generated; may submit and abort
   */
  advance(now: number, onToken: (sequence: Sequence<Request>, at: number) => void): void {
    while (this.next <= now && this.next < Infinity) {
      const at = this.next;
      this.endIteration(at, onToken);
      this.beginIteration(at);
    }
  }

  private endIteration(at: number, onToken: (sequence: Sequence<Request>, at: number) => void): void {
    for (const member of this.batch) {
      if (member.state === 'ended') continue;
      member.computed += member.chunk;
      if (member.computed < lengthOf(member)) continue;
      member.generated += 1;
      if (member.generated === member.tokens) {
        this.release(member);
        member.state = 'ended';
      }
      onToken(member, at);
    }
  }

  private beginIteration(at: number): void {
    this.batch = [];
    let budget = this.settings.maxNumBatchedTokens;
    for (let index = 0; index < this.active.length && budget > 0; index += 1) {
      const member = this.active[index]!;
      if (!this.grow(member)) break;
      budget -= this.include(member, budget);
    }
    // A sequence that was just preempted does not fit: a part of what it held is taken. It blocks those after it.
    while (budget > 0 && this.active.length < this.settings.maxNumSeqs) {
      const member = this.queue[0];
      if (!member || member.arrivedAt > at || lengthOf(member) > this.settings.kvTokens - this.held) break;
      this.queue.shift();
      this.active.push(member);
      member.state = 'running';
      this.grow(member);
      budget -= this.include(member, budget);
    }
    // An empty batch means that nothing runs, so the first of the queue arrives after `at`.
    this.next = this.batch.length > 0 ? at + this.durationMs() : (this.queue[0]?.arrivedAt ?? Infinity);
  }

  /** Reserves the KV cache for the next tokens of a sequence. Returns false if it was preempted itself. */
  private grow(member: Member<Request>): boolean {
    const more = lengthOf(member) - member.held;
    while (this.held + more > this.settings.kvTokens) {
      const last = this.active.at(-1)!;
      this.release(last);
      this.preempted += 1;
      last.state = 'waiting';
      last.computed = 0;
      this.queue.unshift(last);
      if (last === member) return false;
    }
    member.held += more;
    this.held += more;
    return true;
  }

  private include(member: Member<Request>, budget: number): number {
    member.chunk = Math.min(lengthOf(member) - member.computed, budget);
    this.batch.push(member);
    return member.chunk;
  }

  private release(member: Member<Request>): void {
    this.active.splice(this.active.lastIndexOf(member), 1);
    this.held -= member.held;
    member.held = 0;
  }

  private durationMs(): number {
    const { stepMs, tokenUs, kvTokenUs, jitter, slowTimes } = this.settings;
    let computed = 0;
    let context = 0;
    let isSlow = false;
    for (const member of this.batch) {
      computed += member.chunk;
      context += member.computed;
      isSlow ||= member.isSlow;
    }
    const workMs = stepMs + (tokenUs * computed + kvTokenUs * context) / 1000;
    return workMs * (1 + jitter * (2 * this.random() - 1)) * (isSlow ? slowTimes : 1);
  }
}

/** Tokens that must be computed before the next one can be generated. */
function lengthOf({ promptTokens, generated }: Work & { generated: number }): number {
  return promptTokens + generated;
}
