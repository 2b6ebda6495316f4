import { expect, it } from '@jest/globals';
import { TRIMMED_LINE } from './text.js';

it('a trimmed line is what ECMAScript means by \\S and by a dot', () => {
  const short = /^\S(.*\S)?$/;
  const different = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
    .flatMap((one) => [one, `${one}a`, `a${one}`, `a${one}b`])
    .filter((text) => TRIMMED_LINE.test(text) !== short.test(text));
  expect(different).toEqual([]);
});
