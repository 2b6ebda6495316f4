import { useSyncExternalStore } from 'react';
import { preferenceOf, setPreference, usePreference } from '../theme/preferences.js';
import { inWords, utcText } from './text/time-text.js';

/** One clock for all ages on the page: a page with a thousand times has one timer. */
const listeners = new Set<() => void>();
let now = Date.now();
let ticking: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  ticking ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** Returns the current time in ms, updated every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

export const toggleClock = (): void => setPreference('clock', preferenceOf('clock') === 'utc' ? 'relative' : 'utc');

/** A moment in the reader's chosen format: how long ago, or in UTC. Its title has the other format. */
export function Time({ at }: { at: string | null | undefined }) {
  const isUtc = usePreference('clock') === 'utc';
  const ms = at ? Date.parse(at) : Number.NaN;
  if (!at || Number.isNaN(ms)) return <span className="text-soft">never</span>;
  return isUtc ? (
    <time dateTime={at} title={inWords(Date.now() - ms)} className="whitespace-nowrap">
      {utcText(ms)}
    </time>
  ) : (
    <RelativeTime at={at} ms={ms} />
  );
}

function RelativeTime({ at, ms }: { at: string; ms: number }) {
  return (
    <time dateTime={at} title={utcText(ms)} className="whitespace-nowrap">
      {inWords(useNow() - ms)}
    </time>
  );
}
