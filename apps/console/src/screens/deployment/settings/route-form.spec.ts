import { describe, expect, it } from '@jest/globals';
import { canServe, weightsFault } from './route-form.js';

it.each([
  ['ready', true],
  ['active', true],
  ['standby', true],
  ['draining', false],
  ['pending', false],
  ['failed', false],
  ['retired', false],
] as const)('a revision that is %s can be chosen: %s', (state, isOffered) =>
  expect(canServe({ state })).toBe(isOffered),
);

describe('the weights of a route', () => {
  it('may be sent if they sum to 100 %', () =>
    expect(
      weightsFault([
        { revision: 'a', weight: 90 },
        { revision: 'b', weight: 10 },
      ]),
    ).toBeUndefined());

  it.each([
    [[{ revision: 'a', weight: 90 }], 'The weights sum to 90 %. They must sum to 100 %.'],
    [[{ revision: 'a', weight: '9x' }, {}], 'The weights sum to 0 %. They must sum to 100 %.'],
    [
      [
        { revision: 'a', weight: 50 },
        { revision: 'a', weight: 50 },
      ],
      'a is named twice.',
    ],
    [[], 'The weights sum to 0 %. They must sum to 100 %.'],
  ])('%j are refused', (targets, fault) => expect(weightsFault(targets)).toBe(fault));
});
