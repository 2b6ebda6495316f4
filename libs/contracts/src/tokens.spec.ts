import { describe, expect, it } from '@jest/globals';
import { hashSecret, parseToken, tokenText, checkToken } from './identity.js';

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
])('%j is no token', (text) => expect(parseToken(text)).toBeUndefined());

it('a token whose id or secret is too long is refused', () => {
  expect(parseToken(`slw_a_${'x'.repeat(512)}`)?.secret).toHaveLength(512);
  expect(parseToken(`slw_a_${'x'.repeat(513)}`)).toBeUndefined();
  expect(parseToken(`slw_${'a'.repeat(64)}_${'x'.repeat(32)}`)?.id).toHaveLength('tok_'.length + 64);
  expect(parseToken(`slw_${'a'.repeat(65)}_${'x'.repeat(32)}`)).toBeUndefined();
});

it('a configured token whose secret has underscores is read and written back', () => {
  const text = `slw_boot_${'a_'.repeat(16)}`;
  const parts = { id: 'tok_boot', secret: 'a_'.repeat(16) };
  expect(parseToken(text)).toEqual(parts);
  expect(tokenText(parts)).toBe(text);
});

describe('checkToken', () => {
  const facts = { secretHash: hashSecret('right'), isRevoked: false, isExpired: false };

  it('accepts the right secret of a valid token', () => {
    expect(checkToken(facts, 'right')).toBe('valid');
  });

  it('calls every forged, unknown or revoked token wrong', () => {
    expect(checkToken(facts, 'wrong')).toBe('wrong');
    expect(checkToken(undefined, 'right')).toBe('wrong');
    expect(checkToken({ ...facts, secretHash: Buffer.alloc(0) }, 'right')).toBe('wrong');
    expect(checkToken({ ...facts, isRevoked: true }, 'right')).toBe('wrong');
  });

  it('reports an expiry only to the holder of the secret, and never for a revoked token', () => {
    expect(checkToken({ ...facts, isExpired: true }, 'right')).toBe('expired');
    expect(checkToken({ ...facts, isExpired: true }, 'wrong')).toBe('wrong');
    expect(checkToken({ ...facts, isExpired: true, isRevoked: true }, 'right')).toBe('wrong');
  });
});
