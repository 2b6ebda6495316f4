import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergePatch } from './merge-patch.js';

/** RFC 7386, appendix A: original, patch, result. */
const APPENDIX = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
] as const;

const json = fc.jsonValue({ maxDepth: 4 }).map((value): unknown => JSON.parse(JSON.stringify(value)));
const object = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString'), json);

describe('a merge patch', () => {
  it.each(APPENDIX)('changes %s by %s as RFC 7386 requires', (original, patch, result) => {
    expect(mergePatch(JSON.parse(original), JSON.parse(patch))).toEqual(JSON.parse(result));
  });

  it('changes nothing when it is applied a second time', () => {
    const holds = (target: unknown, patch: unknown) => {
      const once = mergePatch(target, patch);
      expect(JSON.stringify(mergePatch(once, patch))).toBe(JSON.stringify(once));
    };
    fc.assert(fc.property(fc.oneof(json, object), fc.oneof(json, object), holds));
  });

  it('removes members that are null, merges the other members it names, and leaves the rest unchanged', () => {
    const holds = (target: Record<string, unknown>, patch: Record<string, unknown>) => {
      const before = JSON.stringify([target, patch]);
      const merged = mergePatch(target, patch) as Record<string, unknown>;
      expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
      for (const name of new Set([...Object.keys(target), ...Object.keys(patch)])) {
        const of = (one: object) => Object.getOwnPropertyDescriptor(one, name)?.value as unknown;
        if (!Object.hasOwn(patch, name)) expect(of(merged)).toEqual(of(target));
        else if (of(patch) === null) expect(Object.hasOwn(merged, name)).toBe(false);
        else expect(of(merged)).toEqual(mergePatch(of(target), of(patch)));
      }
      expect(JSON.stringify([target, patch])).toBe(before);
    };
    fc.assert(fc.property(object, object, holds));
  });
});
