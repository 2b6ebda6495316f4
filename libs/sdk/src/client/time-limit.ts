/** A signal that fires with another one, or when the time has passed. */
export interface TimeLimit {
  signal: AbortSignal;
  hasPassed(): boolean;
  /** Releases both: a signal that outlives many calls would keep all of them. */
  stop(): void;
}

/** Not `AbortSignal.any`: Node may collect its result while a caller still waits for it. */
export function timeLimit(ms: number, outer: AbortSignal | undefined): TimeLimit {
  const both = new AbortController();
  let hasPassed = false;
  const timer = setTimeout(() => {
    hasPassed = true;
    both.abort();
  }, ms);
  const follow = () => both.abort(outer?.reason);
  if (outer?.aborted) follow();
  outer?.addEventListener('abort', follow);
  const stop = () => {
    clearTimeout(timer);
    outer?.removeEventListener('abort', follow);
  };
  return { signal: both.signal, hasPassed: () => hasPassed, stop };
}
