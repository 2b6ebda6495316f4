import { useSyncExternalStore } from 'react';

/** The theme for pictures that are drawn, not styled, and must be drawn again when it changes. */
export const useThemeName = (): 'dark' | 'light' =>
  useSyncExternalStore(subscribe, () => (document.documentElement.classList.contains('dark') ? 'dark' : 'light'));

function subscribe(changed: () => void): () => void {
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ['class'] });
  return () => watch.disconnect();
}
