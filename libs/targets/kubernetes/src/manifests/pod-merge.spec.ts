import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergePod } from './pod-merge.js';

describe('a part merged over another', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['mappings deeply', { a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
    ['null takes away', { a: { b: 1, c: 2 } }, { a: { c: null } }, { a: { b: 1 } }],
    [
      'lists without names whole',
      { tolerations: [{ key: 'a' }] },
      { tolerations: [{ key: 'b' }] },
      { tolerations: [{ key: 'b' }] },
    ],
    [
      'containers by name, deeply',
      { containers: [{ name: 'engine', image: 'x', securityContext: { a: 1 } }] },
      { containers: [{ name: 'side' }, { name: 'engine', securityContext: { b: 2 } }] },
      { containers: [{ name: 'engine', image: 'x', securityContext: { a: 1, b: 2 } }, { name: 'side' }] },
    ],
    [
      'variables by name, each whole',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
      {
        env: [
          { name: 'B', valueFrom: { fieldRef: {} } },
          { name: 'C', value: '3' },
        ],
      },
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { fieldRef: {} } },
          { name: 'C', value: '3' },
        ],
      },
    ],
    [
      'volumes by name, each whole',
      { volumes: [{ name: 'shm', emptyDir: {} }] },
      { volumes: [{ name: 'shm', hostPath: { path: '/x' } }] },
      { volumes: [{ name: 'shm', hostPath: { path: '/x' } }] },
    ],
    ['a list whose entries have no names replaces', { env: [{ name: 'A' }] }, { env: [{}] }, { env: [{}] }],
    ['a mapping replaces what is none', { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
  ])('merges %s', (_case, base, over, expected) => expect(mergePod(base, over)).toEqual(expected));

  const anyPart = fc.dictionary(fc.string(), fc.jsonValue());

  it('has everything that only one part sets, and the later value of what both set', () => {
    fc.assert(
      fc.property(anyPart, anyPart, (base, over) => {
        const merged = mergePod<Record<string, unknown>>(base, over);
        for (const key of Object.keys(base)) if (!Object.hasOwn(over, key)) expect(merged[key]).toEqual(base[key]);
        for (const [key, value] of Object.entries(over)) {
          if (value === null) expect(Object.hasOwn(merged, key)).toBe(false);
          else if (typeof value !== 'object') expect(merged[key]).toEqual(value);
        }
      }),
    );
  });

  it('changes neither of the two, and is the same when it is merged again', () => {
    fc.assert(
      fc.property(anyPart, anyPart, (base, over) => {
        const before = JSON.stringify([base, over]);
        const once = mergePod(base, over);
        expect(mergePod(once, over)).toEqual(once);
        expect(JSON.stringify([base, over])).toBe(before);
      }),
    );
  });

  it('treats __proto__ like any other key', () => {
    const over = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as object;
    const merged = mergePod<Record<string, unknown>>({}, over);
    expect(merged['polluted']).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});
