import { expect, it } from '@jest/globals';
import { parseToken } from '@slipway/contracts';
import { withIncluded } from './scopes.js';
import { makeToken } from './token-text.js';

it('makes tokens that parse back, each with 256 bits of its own', () => {
  const first = makeToken();
  const second = makeToken();
  expect(parseToken(first.text)).toEqual({ id: first.id, secret: first.secret });
  expect(Buffer.from(first.secret, 'base64url')).toHaveLength(32);
  expect(first.secret).not.toBe(second.secret);
});

it('nests scopes', () => {
  expect([...withIncluded(['admin'])]).toEqual(['viewer', 'operator', 'admin']);
  expect([...withIncluded(['operator', 'viewer'])]).toEqual(['viewer', 'operator']);
  expect([...withIncluded([])]).toEqual([]);
});
