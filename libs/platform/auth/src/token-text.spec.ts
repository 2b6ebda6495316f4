import { expect, it } from '@jest/globals';
import { withIncluded } from './scopes.js';
import { hashSecret, isSecret, makeToken, parseToken } from './token-text.js';

it('makes tokens that parse back, each with 256 bits of its own', () => {
  const first = makeToken();
  const second = makeToken();
  expect(parseToken(first.text)).toEqual({ id: first.id, secret: first.secret });
  expect(Buffer.from(first.secret, 'base64url')).toHaveLength(32);
  expect(first.secret).not.toBe(second.secret);
});

it.each([
  '',
  'slw_',
  'slw_a_short',
  `slw_a b_${'x'.repeat(32)}`,
  `slw__${'x'.repeat(32)}`,
  `xslw_a_${'x'.repeat(32)}`,
  `slw_a_${'x'.repeat(31)}é`,
  `slw_a_${'x'.repeat(31)}`,
  `slw_a_${'x'.repeat(32)} `,
  `slw_a_${'x'.repeat(32)}\n`,
])('takes %j for no token', (text) => expect(parseToken(text)).toBeUndefined());

it('takes no token whose id or secret is too long', () => {
  expect(parseToken(`slw_a_${'x'.repeat(512)}`)?.secret).toHaveLength(512);
  expect(parseToken(`slw_a_${'x'.repeat(513)}`)).toBeUndefined();
  expect(parseToken(`slw_${'a'.repeat(64)}_${'x'.repeat(32)}`)?.id).toHaveLength('tok_'.length + 64);
  expect(parseToken(`slw_${'a'.repeat(65)}_${'x'.repeat(32)}`)).toBeUndefined();
});

it('takes a configured token whose secret holds underscores', () => {
  expect(parseToken(`slw_boot_${'a_'.repeat(16)}`)).toEqual({ id: 'tok_boot', secret: 'a_'.repeat(16) });
});

it('compares secrets by their hash', () => {
  expect(isSecret('s', hashSecret('s'))).toBe(true);
  expect(isSecret('t', hashSecret('s'))).toBe(false);
  expect(isSecret('s', Buffer.alloc(0))).toBe(false);
});

it('nests scopes', () => {
  expect([...withIncluded(['admin'])]).toEqual(['viewer', 'operator', 'admin']);
  expect([...withIncluded(['operator', 'viewer'])]).toEqual(['viewer', 'operator']);
  expect([...withIncluded([])]).toEqual([]);
});
