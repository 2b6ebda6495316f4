import { describe, expect, it } from '@jest/globals';
import { shellLine } from './shell-line.js';

describe('lines for a shell', () => {
  it('leaves plain words as they are', () =>
    expect(shellLine('slipway', 'tokens', 'revoke', 'tok_1', '--yes')).toBe('slipway tokens revoke tok_1 --yes'));

  it.each(['', 'a b', '$(touch x)', '`id`', '"; rm -rf /', '\\', '!!', 'a\nb', '~', '*', '{"a":1}', 'ö'])(
    'quotes %j, so that the shell reads one word and runs nothing',
    (word) => expect(shellLine(word)).toBe(`'${word}'`),
  );

  it('lets no quote end the quoting', () => expect(shellLine("it's")).toBe(`'it'\\''s'`));
});
