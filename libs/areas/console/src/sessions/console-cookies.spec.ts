import { expect, it } from '@jest/globals';
import type { Config } from '@slipway/platform-config';
import { ConsoleCookies, csrfOf, isCsrfOf, newSecret, sessionIdOf } from './console-cookies.js';

const cookiesAt = (publicUrl?: string) =>
  new ConsoleCookies({ console: { isOn: true, publicUrl } } as unknown as Config);

it('cookies are hidden from scripts and other sites, and under https from other hosts and plain connections', () => {
  expect(cookiesAt('https://slipway.example').write('session', 'secret', 60)).toBe(
    '__Host-slipway_console_session=secret; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax',
  );
  expect(cookiesAt().write('session', 'secret', 60)).toBe(
    'slipway_console_session=secret; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
  );
});

it('an empty cookie expires at once', () =>
  expect(cookiesAt().write('sign_in', '', 600)).toContain('slipway_console_sign_in=; Max-Age=0;'));

it('cookies are read by their own name: under https, one that another host may have set is ignored', () => {
  const sent = 'slipway_console_session=planted; __Host-slipway_console_session=own';
  expect(cookiesAt('https://slipway.example').read(sent, 'session')).toBe('own');
  expect(cookiesAt('https://slipway.example').read('slipway_console_session=planted', 'session')).toBeUndefined();
  expect(cookiesAt().read(undefined, 'session')).toBeUndefined();
});

const secret = newSecret();

it('a session accepts its own csrf text and no other, of any length', () => {
  expect(isCsrfOf(secret, csrfOf(secret))).toBe(true);
  for (const other of [
    csrfOf(newSecret()),
    '',
    csrfOf(secret).slice(1),
    `${csrfOf(secret)}a`,
    undefined,
    [csrfOf(secret)],
  ])
    expect(isCsrfOf(secret, other)).toBe(false);
});

it('a secret is stored and shown in forms that do not reveal it', () => {
  const seen = [sessionIdOf(secret), csrfOf(secret)];
  for (const text of seen) expect(text).not.toContain(secret);
  expect(new Set([...seen, secret]).size).toBe(3);
});

it('a text is no secret unless it has the form of one', () => {
  for (const other of [undefined, '', secret.slice(1), `${secret}a`, `${secret.slice(1)}=`])
    expect(sessionIdOf(other)).toBeUndefined();
});
