import { describe, expect, it } from '@jest/globals';
import { shellLine } from './shell-line.js';

describe('lines for a shell', () => {
  it('keep plain words unquoted', () =>
    expect(shellLine('slipway', 'tokens', 'revoke', 'tok_1', '--yes')).toBe('slipway tokens revoke tok_1 --yes'));

  it.each(['', 'a b', '$(touch x)', '`id`', '"; rm -rf /', '\\', '!!', 'a\nb', '~', '*', '{"a":1}', 'ö'])(
    'quote %j, so that the shell reads one word and runs nothing',
    (word) => expect(shellLine(word)).toBe(`'${word}'`),
  );

  it('do not let a quote end the quoting', () => expect(shellLine("it's")).toBe(`'it'\\''s'`));
});
