import { describe, expect, it } from '@jest/globals';
import { differenceLine, differencesBetween, isSame, merged, patchBetween } from './merge.js';

describe('a file merged over the state of the server', () => {
  it('keeps fields that the file does not name, and removes fields that it sets to null', () => {
    const found = { a: 1, b: { c: 2, d: 3 }, e: 4 };
    expect(merged(found, { b: { c: 5 }, e: null })).toEqual({ a: 1, b: { c: 5, d: 3 } });
    expect(merged(undefined, { a: { b: null, c: 1 } })).toEqual({ a: { c: 1 } });
    expect(merged(found, undefined)).toBe(found);
  });

  it('keeps the values that the api filled into an item that the file only repeats; any other item is as in the file', () => {
    const found = [
      { traffic_percent: 5, soak_seconds: 60 },
      { traffic_percent: 100, soak_seconds: 180 },
    ];
    const wanted = [{ traffic_percent: 5 }, { traffic_percent: 50 }, { traffic_percent: 100 }];
    expect(merged(found, wanted)).toEqual([found[0], { traffic_percent: 50 }, { traffic_percent: 100 }]);
    expect(merged(found, [{ traffic_percent: 5 }, { traffic_percent: 100 }])).toEqual(found);
    expect(merged(['a', 'b'], ['b'])).toEqual(['b']);
  });
});

it('treats null, an absent value and an empty object as the same', () => {
  expect(isSame({ a: null, b: {}, c: { d: {} }, e: 0 }, { e: 0 })).toBe(true);
  expect(isSame({ a: false }, {})).toBe(false);
  expect(isSame({ a: [] }, {})).toBe(false);
});

it('the patch between two values turns the first into the second', () => {
  const before = { type: 'canary', steps: [{ traffic_percent: 5 }], labels: { a: '1', b: '2' } };
  const after = { type: 'immediate', labels: { a: '1', b: '3' } };
  const patch = patchBetween(before, after);
  expect(patch).toEqual({ type: 'immediate', steps: null, labels: { b: '3' } });
  expect(merged(before, patch)).toEqual(after);
});

it('reports each differing value by its path', () => {
  const differences = differencesBetween({ a: { b: 1, c: 2 }, e: [1] }, { a: { b: 1, c: 3, d: 4 } }, 'spec');
  expect(differences.map(differenceLine)).toEqual(['  ~ spec.a.c: 2 -> 3', '  + spec.a.d: 4', '  - spec.e: [1]']);
});
