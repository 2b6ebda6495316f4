import { expect, it } from '@jest/globals';
import type { Config } from '@slipway/platform-config';
import { ConsoleCookies } from './console-cookies.js';

const cookiesAt = (publicUrl?: string) =>
  new ConsoleCookies({ console: { isOn: true, publicUrl } } as unknown as Config);

it('are of no script, no other site, and under https of no other host and no plain connection', () => {
  expect(cookiesAt('https://slipway.example').write('session', 'secret', 60)).toBe(
    '__Host-slipway_console_session=secret; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax',
  );
  expect(cookiesAt().write('session', 'secret', 60)).toBe(
    'slipway_console_session=secret; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
  );
});

it('go at once where there is nothing in them', () =>
  expect(cookiesAt().write('sign_in', '', 600)).toContain('slipway_console_sign_in=; Max-Age=0;'));

it('are read by their own name: one that another host may have set is none under https', () => {
  const sent = 'slipway_console_session=planted; __Host-slipway_console_session=own';
  expect(cookiesAt('https://slipway.example').read(sent, 'session')).toBe('own');
  expect(cookiesAt('https://slipway.example').read('slipway_console_session=planted', 'session')).toBeUndefined();
  expect(cookiesAt().read(undefined, 'session')).toBeUndefined();
});
