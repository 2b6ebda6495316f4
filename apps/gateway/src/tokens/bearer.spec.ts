import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashSecret, parseToken } from '@slipway/platform-auth';
import { parseBearer } from './bearer.js';

it('reads the tokens that platform-auth makes, and takes nothing else for one', () => {
  const part = (most: number, good: string, bad: string): fc.Arbitrary<string> =>
    fc.oneof(
      ...[good, good, good + bad].map((units) => fc.string({ unit: fc.constantFrom(...units), maxLength: most })),
    );
  const id = part(3, 'aZ09-', '_ .');
  const secret = part(3, 'aZ09-_!~', ' é').chain((end) => fc.constantFrom(29, 30, 31).map((n) => 'x'.repeat(n) + end));
  const text = fc
    .tuple(fc.constantFrom('slw_', 'slw_', 'slw_', 'slw', 'SLW_', 'xslw_'), id, secret)
    .map(([a, b, c]) => `${a}${b}_${c}`);
  let accepted = 0;
  fc.assert(
    fc.property(text, (token) => {
      // A space at the end belongs to the header, not to the token.
      const parts = parseToken(token.replace(/ +$/, ''));
      if (parts) accepted += 1;
      expect(parseBearer(`Bearer ${token}`)).toEqual(
        parts ? { tokenId: parts.id, secretHash: hashSecret(parts.secret) } : null,
      );
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

it('takes the scheme in either spelling, with any number of spaces around the token', () => {
  const token = `slw_boot_${'s'.repeat(32)}`;
  for (const text of [`Bearer ${token}`, `bearer ${token}`, `Bearer   ${token}  `])
    expect(parseBearer(text)?.tokenId).toBe('tok_boot');
  for (const text of [token, `Bearer${token}`, `Basic ${token}`, `Bearer ${token} x`, `Bearer ${token}\n`])
    expect(parseBearer(text)).toBeNull();
});
