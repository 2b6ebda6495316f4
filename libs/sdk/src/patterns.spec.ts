import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const DOCUMENT: unknown = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));

/** Escapes that match other characters in Python than in ECMAScript. */
const CLASS_ESCAPE = /\\[bBdDsSwWpP]/;

function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inside]) =>
    key === 'pattern' && typeof inside === 'string' ? [inside] : patternsIn(inside),
  );
}

/** Whether Python reads a pattern as ECMAScript does. A final `$` counts, although Python allows a line break after it. */
function isPortable(pattern: string): boolean {
  const outside = pattern
    .replace(/\$$/, '')
    .replace(/\\./g, '')
    .replace(/\[[^\]]*\]/g, '');
  return !CLASS_ESCAPE.test(pattern) && !/[.$]/.test(outside);
}

it.each([
  ['^.$', false],
  ['^\\d$', false],
  ['^[\\w.]$', false],
  ['^a$b', false],
  ['^[.$]\\.[\\]]$', true],
])('the rule of patterns reads %s', (pattern, expected) => {
  expect(isPortable(pattern)).toBe(expected);
});

it('every pattern of the document has one meaning in ECMAScript and in Python', () => {
  const patterns = [...new Set(patternsIn(DOCUMENT))];
  expect(patterns.length).toBeGreaterThan(5);
  expect(patterns.filter((pattern) => !isPortable(pattern))).toEqual([]);
});
