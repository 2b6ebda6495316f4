import { expect, it } from '@jest/globals';
import { withoutOuterSlashes, withoutTrailingSlashes } from './slashes.js';

it.each([
  ['', '', ''],
  ['/', '', ''],
  ['///', '', ''],
  ['a', 'a', 'a'],
  ['a/', 'a', 'a'],
  ['//a//b//', '//a//b', 'a//b'],
  ['/a b/ ', '/a b/ ', 'a b/ '],
])('removes only the slashes at the ends of "%s"', (text, trailing, outer) => {
  expect(withoutTrailingSlashes(text)).toBe(trailing);
  expect(withoutOuterSlashes(text)).toBe(outer);
});
