import { expect, it } from '@jest/globals';
import { faultText, intactText } from './chain-text.js';

const COUNTS = { linked: 0, intact: 0, unsealed: 0, changed: 0, unfitting: 0 };

it('distinguishes verified rows from linked ones', () =>
  expect(intactText({ counts: { ...COUNTS, linked: 3, intact: 1, unsealed: 2 } })).toBe(
    '4 rows verified, 3 linked to the previous row, 2 not sealed yet.',
  ));

it('reports each fault', () =>
  expect(faultText({ counts: { ...COUNTS, changed: 1, unfitting: 2 }, missing: [4, 5] })).toBe(
    'The audit log does not match its hashes: 1 row changed after sealing; 2 rows do not follow the previous row; missing rows: 4, 5.',
  ));
