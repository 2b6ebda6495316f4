import { setPreference, preferenceOf } from './preferences.js';

export type Theme = 'light' | 'dark' | 'system';

const dark = () => matchMedia('(prefers-color-scheme: dark)');

export function themeOf(): Theme {
  const kept = preferenceOf('theme');
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Sets the class of `<html>`, now and whenever the system's preference changes. */
export function applyTheme(): void {
  const apply = () => {
    const theme = themeOf();
    document.documentElement.classList.toggle('dark', theme === 'dark' || (theme === 'system' && dark().matches));
  };
  apply();
  dark().addEventListener('change', apply);
  addEventListener('slipway:preference', apply);
}

export const chooseTheme = (theme: Theme): void => setPreference('theme', theme);
