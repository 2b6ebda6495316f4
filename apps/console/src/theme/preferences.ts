import { useSyncExternalStore } from 'react';

/** The choices of a person in this browser. A browser without storage has the defaults. */
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
    // Storage is off: the choice lasts as long as this page.
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
