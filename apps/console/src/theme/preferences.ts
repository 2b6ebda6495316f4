import { useSyncExternalStore } from 'react';

/** What a person chose for this browser. A browser that keeps nothing has the defaults. */
export type Preference = 'theme' | 'clock';

const KEY = 'slipway.';
const kept = new Map<Preference, string>();

export function preferenceOf(name: Preference): string | undefined {
  const held = kept.get(name);
  if (held !== undefined) return held;
  try {
    return localStorage.getItem(KEY + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function setPreference(name: Preference, value: string): void {
  kept.set(name, value);
  try {
    localStorage.setItem(KEY + name, value);
  } catch {
    // Storage is switched off: it holds for this page.
  }
  dispatchEvent(new Event('slipway:preference'));
}

export function usePreference(name: Preference): string | undefined {
  return useSyncExternalStore(
    (changed) => {
      addEventListener('slipway:preference', changed);
      return () => removeEventListener('slipway:preference', changed);
    },
    () => preferenceOf(name),
  );
}
