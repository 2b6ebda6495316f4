import { useSyncExternalStore } from 'react';

/** What a picture that is drawn, not styled, must be drawn anew for. */
export const useThemeName = (): 'dark' | 'light' =>
  useSyncExternalStore(subscribe, () => (document.documentElement.classList.contains('dark') ? 'dark' : 'light'));

function subscribe(changed: () => void): () => void {
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ['class'] });
  return () => watch.disconnect();
}
