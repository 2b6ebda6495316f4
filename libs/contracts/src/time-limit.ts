/** The longest time that one timer can hold; with a longer one, Node and browsers fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Settings of a socket whose peer may disappear without closing it. After 15 s without a byte the operating system asks
 * the peer once a second, and closes the connection after ten questions without an answer.
 */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 15_000 } as const;

export interface JoinedSignal {
  signal: AbortSignal;
  /** Call it when the work has ended: a signal that outlives many calls would keep all of them. */
  stop(): void;
}

export interface TimeLimit extends JoinedSignal {
  /** Whether the time passed before another signal fired and before `stop`. */
  hasPassed(): boolean;
}

/**
 * Fires with the first of several signals, and with its reason. Use it instead of `AbortSignal.any`: Node 20 collects
 * the sources of that one, such as `AbortSignal.timeout`, while a caller still waits for them.
 */
export function joinSignals(...sources: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const joined = new AbortController();
  const present = sources.filter((source) => source !== undefined);
  const follow = (event: Event) => end(event.target as AbortSignal);
  const stop = () => present.forEach((source) => source.removeEventListener('abort', follow));
  const end = ({ reason }: AbortSignal) => {
    stop();
    joined.abort(reason);
  };
  const ended = present.find(({ aborted }) => aborted);
  if (ended) end(ended);
  else for (const source of present) source.addEventListener('abort', follow);
  return { signal: joined.signal, stop };
}

/**
 * Fires when the time has passed, with a `TimeoutError`, or with one of the other signals, with its reason. `Infinity`
 * is no limit. The timer keeps no process alive.
 */
export function timeLimit(ms: number, ...outer: readonly (AbortSignal | undefined)[]): TimeLimit {
  const time = new AbortController();
  const both = joinSignals(...outer, time.signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (leftMs: number) => {
    const stepMs = Math.min(Math.max(0, leftMs), LONGEST_TIMER_MS);
    timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : pass()), stepMs);
    // Browsers have numbers for timers.
    (timer as { unref?: () => void }).unref?.();
  };
  const pass = () => time.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const stop = () => {
    clearTimeout(timer);
    both.stop();
  };
  if (!both.signal.aborted && ms !== Infinity) wait(ms);
  both.signal.addEventListener('abort', stop, { once: true });
  return { signal: both.signal, hasPassed: () => time.signal.aborted, stop };
}

/** Does work with the signal of a time limit, and releases the limit when the work has ended. */
export async function withinTime<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, stop } = timeLimit(ms, outer);
  try {
    return await work(signal);
  } finally {
    stop();
  }
}
