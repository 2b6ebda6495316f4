import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { assignSlots, SLOT_COUNT, slotOf, type WeightedRevision } from './slots.js';

/**
 * Weights that sum to 100, cut at random points, for up to six revisions of a small pool (so that generations overlap).
 */
const route: fc.Arbitrary<WeightedRevision[]> = fc
  .uniqueArray(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 6 })
  .chain((ids) =>
    fc
      .array(fc.integer({ min: 0, max: SLOT_COUNT }), { minLength: ids.length - 1, maxLength: ids.length - 1 })
      .map((cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), SLOT_COUNT];
        return ids.map((id, index) => ({
          revisionId: `rev_${id}`,
          weight: (edges[index + 1] as number) - (edges[index] as number),
        }));
      }),
  );

const count = (slots: readonly string[], revisionId: string): number =>
  slots.filter((owner) => owner === revisionId).length;

it('gives each revision as many slots as its weight, generation after generation, and moves the fewest', () => {
  fc.assert(
    fc.property(fc.array(route, { minLength: 1, maxLength: 6 }), (generations) => {
      let previous: string[] = [];
      for (const revisions of generations) {
        const slots = assignSlots(previous, revisions);
        expect(slots).toHaveLength(SLOT_COUNT);
        for (const { revisionId, weight } of revisions) expect(count(slots, revisionId)).toBe(weight);
        const moved = slots.filter((owner, slot) => owner !== previous[slot]).length;
        const least = revisions.reduce(
          (sum, { revisionId, weight }) => sum + Math.max(0, weight - count(previous, revisionId)),
          0,
        );
        expect(moved).toBe(least);
        expect(assignSlots(previous, revisions)).toEqual(slots);
        previous = slots;
      }
    }),
  );
});

it('moves nothing when the weights do not change, whatever the order of the revisions', () => {
  const first = assignSlots(
    [],
    [
      { revisionId: 'a', weight: 70 },
      { revisionId: 'b', weight: 30 },
    ],
  );
  expect(
    assignSlots(first, [
      { revisionId: 'b', weight: 30 },
      { revisionId: 'a', weight: 70 },
      { revisionId: 'c', weight: 0 },
    ]),
  ).toEqual(first);
});

it('refuses invalid weights', () => {
  expect(() => assignSlots([], [{ revisionId: 'a', weight: 99 }])).toThrow(RangeError);
  expect(() =>
    assignSlots(
      [],
      [
        { revisionId: 'a', weight: 50.5 },
        { revisionId: 'b', weight: 49.5 },
      ],
    ),
  ).toThrow(RangeError);
  expect(() =>
    assignSlots(
      [],
      [
        { revisionId: 'a', weight: 110 },
        { revisionId: 'b', weight: -10 },
      ],
    ),
  ).toThrow(RangeError);
  expect(() =>
    assignSlots(
      [],
      [
        { revisionId: 'a', weight: 50 },
        { revisionId: 'a', weight: 50 },
      ],
    ),
  ).toThrow(RangeError);
  expect(() => assignSlots([], [])).toThrow(RangeError);
});

it('spreads sessions evenly, and keeps each in its slot', () => {
  const hits = new Array<number>(SLOT_COUNT).fill(0);
  for (let n = 0; n < 50_000; n += 1) hits[slotOf('ten_1', 'dep_1', `session-${n}`)]! += 1;
  expect(Math.min(...hits)).toBeGreaterThan(380);
  expect(Math.max(...hits)).toBeLessThan(620);
  expect(slotOf('ten_1', 'dep_1', 'x')).toBe(slotOf('ten_1', 'dep_1', 'x'));
  // Pinned: gateways of different versions must agree on a session's slot.
  expect([slotOf('ten_1', 'dep_1', 'session-0'), slotOf('ten_2', 'dep_1', 'session-0')]).toEqual([0, 1]);
});
