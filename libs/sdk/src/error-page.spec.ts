import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { errorPageOf } from './error-page.js';

const committed = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));

it('docs/errors.md matches the committed document: run `npm run openapi` otherwise', () => {
  expect(readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')).toBe(errorPageOf(committed));
});

it('the page has a row for every code, by status, with its meaning, its remedy and whether to retry', () => {
  const page = errorPageOf({
    'x-errors': {
      unavailable: { status: 503, message: 'Away.', remediation: 'Wait.', retryable: true },
      b_first: { status: 400, message: 'One | <two>.', retryable: false },
    },
    'x-failures': { superseded: { description: 'Ended', remedy: 'Follow it.' } },
  });
  expect(page.match(/^\| (?!status|code|---).*$/gm)).toEqual([
    '| 400 | `b_first` | One \\| &lt;two>. |  |  |',
    '| 503 | `unavailable` | Away. | Wait. | yes |',
    '| `superseded` | Ended | Follow it. |',
  ]);
});
