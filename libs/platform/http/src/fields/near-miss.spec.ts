import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nearest } from './near-miss.js';

const KNOWN = ['spec', 'spec_patch', 'base_revision', 'strategy', 'keep_previous_seconds', 'base_url', 'health_path'];

describe('the nearest name', () => {
  it.each([
    ['startegy', 'strategy'],
    ['strategies', 'strategy'],
    ['Strategy', 'strategy'],
    ['specPatch', 'spec_patch'],
    ['base-revision', 'base_revision'],
    ['spcc', 'spec'],
    ['keep_previous_second', 'keep_previous_seconds'],
    ['url', 'base_url'],
    ['path', 'health_path'],
  ])('to %s is %s', (given, meant) => expect(nearest(given, KNOWN)).toBe(meant));

  it.each(['colour', 'sp', 'x', '', '_', '__proto__', 'constructor', 'base', `${'s'.repeat(200)}pec`])(
    'to %j is none',
    (given) => expect(nearest(given, KNOWN)).toBeUndefined(),
  );

  it('is the one with the fewest slips, and the first of equally near ones', () => {
    expect(nearest('nodes', ['notes', 'node', 'modes'])).toBe('notes');
    expect(nearest('nodez', ['notes', 'nodes', 'modes'])).toBe('nodes');
  });

  it('is one of the known names for any input, without an error', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.constantFrom(...KNOWN));
    fc.assert(
      fc.property(anything, fc.array(anything, { maxLength: 30 }), (given, known) => {
        const found = nearest(given, known);
        expect(found === undefined || known.includes(found)).toBe(true);
      }),
    );
  });

  it('is still found after any one slip in a name of six letters or more', () => {
    const names = KNOWN.filter((name) => name.length >= 6);
    const slip = fc.tuple(fc.constantFrom(...names), fc.nat(5), fc.constantFrom('lose', 'exchange', 'add'));
    fc.assert(
      fc.property(slip, ([name, at, kind]) => {
        const [head, tail] = [name.slice(0, at), name.slice(at)];
        const slipped = {
          lose: head + tail.slice(1),
          add: `${head}q${tail}`,
          exchange: head + tail[1] + tail[0] + tail.slice(2),
        };
        expect(nearest(slipped[kind as keyof typeof slipped], KNOWN)).toBe(name);
      }),
    );
  });

  it('is not searched for long names, so that clients cannot make the search expensive', () => {
    let letters = 0;
    const counting = {
      *[Symbol.iterator]() {
        for (;;) {
          letters += 1;
          yield 'never asked for';
        }
      },
    };
    expect(nearest('a'.repeat(41), counting)).toBeUndefined();
    expect(letters).toBe(0);
    const long = 'a'.repeat(1_000_000);
    expect(nearest('a'.repeat(40), [long])).toBeUndefined();
  });
});
