import { timeLimit } from '../contracts.js';
import { isSlipwayError, OperationFailed, SlipwayError } from './errors.js';
import { followEvents } from './followed-events.js';
import { pause } from './retries.js';
import type { Transport } from './transport.js';
import type { Operation, OperationStep } from './types.js';

const LIMIT_MS = 60 * 60_000;
const AWAY_MS = 5 * 60_000;
const POLL_MS = 2_000;
/** Interval while there is a stream, for changes without an event. */
const POLL_BESIDE_STREAM_MS = 10_000;

export interface WaitOptions {
  /**
   * Called for each step that has begun or ended since the last call, in their order. Awaited; an error that it throws
   * ends the wait.
   */
  onStep?: (step: OperationStep, operation: Operation) => void | Promise<void>;
  /**
   * Called with each record that is read, before it is judged. Awaited; an error that it throws ends the wait, for
   * example because the operation waits for a person.
   */
  onRecord?: (operation: Operation) => void | Promise<void>;
  signal?: AbortSignal;
  /** An hour by default. The operation continues after the wait has ended. */
  limitMs?: number;
  /** Longest time that the api may be unavailable: five minutes by default, and never beyond `limitMs`. */
  awayMs?: number;
  /**
   * Called with the error of the last try whenever the api becomes unavailable, and with undefined when it answers
   * again.
   */
  onAway?: (error: SlipwayError | undefined) => void;
  /** How often the record is read while its events cannot be followed: every 2 seconds by default. */
  pollMs?: number;
}

/**
 * Resolves with the operation once it has succeeded. The record decides; events only say when to read it, so that a
 * lost stream loses nothing.
 * @throws OperationFailed if it has ended otherwise, timed_out after `limitMs`, or the error of reading it
 */
export async function waitForOperation(
  transport: Transport,
  id: string,
  options: WaitOptions = {},
): Promise<Operation> {
  const { onStep, onRecord, onAway, signal, limitMs = LIMIT_MS, awayMs = AWAY_MS, pollMs = POLL_MS } = options;
  const news = new EventBell(transport, id, signal);
  const deadline = performance.now() + limitMs;
  const told = new Map<number, string>();
  let seenAt = transport.hasAnswered ? performance.now() : undefined;
  let hasLooked = false;
  let isAway = false;
  try {
    for (;;) {
      // The record is read once, however little time there is.
      const look = timeLimit(hasLooked ? deadline - performance.now() : Infinity, signal);
      hasLooked = true;
      const operation = await transport
        .call('getOperation', { path: { id }, options: { signal: look.signal } })
        .catch((error: unknown) => {
          if (look.hasPassed()) return;
          const mayPass = isSlipwayError(error) && error.retryable;
          // An api that has never answered is not unavailable: the address is wrong.
          if (!mayPass || seenAt === undefined || performance.now() - seenAt > awayMs) throw error;
          if (!isAway) onAway?.(error);
          isAway = true;
        })
        .finally(look.stop);
      if (operation) {
        if (isAway) onAway?.(undefined);
        isAway = false;
        seenAt = performance.now();
        await onRecord?.(operation);
        for (const step of operation.steps) {
          if (step.status === (told.get(step.index) ?? 'pending')) continue;
          told.set(step.index, step.status);
          await onStep?.(step, operation);
        }
        // Does not compare statuses: a later api may have more of them that end an operation.
        if (operation.completed_at !== null) {
          if (operation.status === 'succeeded') return operation;
          throw new OperationFailed(operation);
        }
      }
      const leftMs = deadline - performance.now();
      if (leftMs <= 0)
        throw new SlipwayError(`The operation ${id} did not end within ${limitMs} ms.`, {
          code: 'timed_out',
          retryable: true,
        });
      await news.next(Math.min(leftMs, news.isFollowed ? Math.max(POLL_BESIDE_STREAM_MS, pollMs) : pollMs));
    }
  } finally {
    news.stop();
  }
}

/** Rings whenever an event of the operation arrives. Without a stream it never rings, and the record is polled. */
class EventBell {
  isFollowed = false;
  private readonly ended = new AbortController();
  private ring: () => void = () => undefined;
  private hasRung = false;

  constructor(
    transport: Transport,
    id: string,
    private readonly signal: AbortSignal | undefined,
  ) {
    void this.follow(transport, id);
  }

  /** @throws the reason of the signal */
  async next(mostMs: number): Promise<void> {
    const enough = new AbortController();
    const end = () => enough.abort();
    this.signal?.addEventListener('abort', end);
    this.ring = end;
    if (this.hasRung) end();
    await pause(mostMs, enough.signal).catch(() => undefined);
    this.signal?.removeEventListener('abort', end);
    this.hasRung = false;
    this.signal?.throwIfAborted();
  }

  stop(): void {
    this.ended.abort();
  }

  private async follow(transport: Transport, id: string): Promise<void> {
    try {
      for await (const _event of followEvents(
        transport,
        'listOperationEvents',
        { id },
        { signal: this.ended.signal },
      )) {
        this.isFollowed = true;
        this.hasRung = true;
        this.ring();
      }
    } catch {
      // Too many streams, a proxy that buffers them, an api that is unavailable: reading the record finds the cause.
    }
    this.isFollowed = false;
    this.hasRung = true;
    this.ring();
  }
}
