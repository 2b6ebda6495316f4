import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addUnknownRemovals,
  ArrayField,
  BooleanField,
  IntField,
  JsonField,
  MapField,
  newFindings,
  NumberField,
  ObjectField,
  readObject,
  StringField,
} from '../index.js';

class LeafDto {
  @StringField({ min: 1, max: 3, pattern: /^[a-z❤\uFE0F]+$/g })
  name: string;

  @IntField({ max: 9, default: 4 })
  size: number;

  static check(leaf: LeafDto) {
    return leaf.name === 'bad' ? [{ field: 'name', code: 'bad', message: 'name is bad' }] : [];
  }
}

class BaseDto {
  @StringField({ optional: true })
  note?: string;
}

class RootDto extends BaseDto {
  @ObjectField(() => LeafDto, { optional: true, short: { usual: { name: 'abc' } } })
  leaf?: LeafDto;

  @ArrayField(() => LeafDto, { optional: true, maxItems: 3 })
  leaves?: LeafDto[];

  @ArrayField('integer', { optional: true, unique: true, itemMax: 5 })
  numbers?: number[];

  @MapField({
    values: 'number',
    maxKeyLength: 11,
    maxEntries: 3,
    optional: true,
    check: (map) => (map['a'] === 1 ? 'a is 1' : undefined),
  })
  map?: Record<string, number>;

  @NumberField({ exclusiveMin: 0, default: 1 })
  ratio: number;

  @BooleanField({ optional: true })
  flag?: boolean;

  @JsonField({ optional: true })
  free?: Record<string, unknown>;
}

/** Returns the faults of a value in short form, and its DTO if there are none. */
function read(value: object, type: Function = RootDto, isText = false) {
  const { mistyped, broken, unknown } = newFindings();
  const dto = readObject(type, value, '', { mistyped, broken, unknown }, isText);
  return {
    faults: [...mistyped, ...broken].map(({ field, code }) => `${field} ${code}`),
    messages: [...mistyped, ...broken].map(({ message }) => message),
    unknown: unknown.map(({ field }) => field),
    meant: Object.fromEntries(unknown.map(({ field, meant }) => [field, meant])),
    dto,
  };
}

const ofText = (text: string) => read(JSON.parse(text) as object);

describe('objects with misleading members', () => {
  it.each(['constructor', '__proto__', 'hasOwnProperty', 'toString', '__defineGetter__', '', '0', '?', 'value'])(
    'reports and drops an unknown %j, and validates the rest',
    (name) => {
      const leaf = `{"name":"toolong","${name}":{"prototype":{},"name":1}}`;
      const { faults, unknown, dto } = ofText(`{"${name}":null,"note":1,"leaves":[${leaf}]}`);
      expect(faults).toEqual(['note type', 'leaves[0].name too_long']);
      expect(unknown).toEqual([`leaves[0].${name}`, name]);
      expect(Object.getPrototypeOf(dto)).toBe(RootDto.prototype);
      expect(Object.keys(dto)).toEqual(['leaves', 'ratio']);
    },
  );

  it('reads own members only, also of objects without a prototype', () => {
    const leaf = Object.assign(Object.create({ size: 'x' }) as object, { name: 'a' });
    const value = Object.assign(Object.create(null) as object, { leaf });
    expect(read(value)).toMatchObject({ faults: [], dto: { leaf: { name: 'a', size: 4 } } });
  });

  it.each([
    ['{"leaf":[]}', 'leaf type'],
    ['{"leaf":[{"name":"a"}]}', 'leaf type'],
    ['{"leaf":null,"leaves":{"length":1,"0":{"name":"a"}}}', 'leaves type'],
    ['{"leaves":[[]]}', 'leaves[0] type'],
    ['{"leaves":[[{"name":"a"}]]}', 'leaves[0] type'],
    ['{"leaves":[null]}', 'leaves[0] type'],
    ['{"leaves":["a"]}', 'leaves[0] type'],
    ['{"numbers":[[1]]}', 'numbers[0] type'],
    ['{"numbers":{"value":1}}', 'numbers type'],
    ['{"map":[]}', 'map type'],
    ['{"map":{"a":{"value":1}}}', 'map.a type'],
    ['{"free":[]}', 'free type'],
    // Postgres would print hundreds of digits for each of them.
    ['{"free":{"a":[1e308]}}', 'free range'],
    ['{"free":{"a":-1e31}}', 'free range'],
    ['{"free":{"a":{"b":5e-324}}}', 'free range'],
  ])('refuses %s', (text, fault) => expect(ofText(text).faults).toEqual([fault]));

  it('reads a short text as the object that it stands for, and no other text', () => {
    expect(ofText('{"leaf":"usual"}')).toMatchObject({ faults: [], dto: { leaf: { name: 'abc', size: 4 } } });
    for (const text of ['other', 'toString', ''])
      expect(ofText(JSON.stringify({ leaf: text })).faults).toEqual(['leaf type']);
  });

  it('accepts as many values in free JSON as may occupy the event loop', () => {
    const faults = (free: object) => read({ free }).faults;
    // The object and the list count as well.
    expect(faults({ a: Array(9_998).fill(1) })).toEqual([]);
    expect(faults({ a: Array(9_999).fill(1) })).toEqual(['free too_many']);
    expect(faults({ a: Array(100).fill(Array(100).fill({})) })).toEqual(['free too_many']);
    expect(faults(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, null])))).toEqual(['free too_many']);
  });

  it('accepts numbers of any precision in free JSON', () => {
    const free = { a: [0, -0, 1e30, -1e-30, 0.1, 12345678901234567890], b: { c: '1e308' } };
    expect(read({ free })).toMatchObject({ faults: [], dto: { free } });
  });

  it('accepts any text as the key of a map', () => {
    const { faults, dto } = ofText('{"map":{"constructor":1,"toString":2,"__proto__":3}}');
    expect(faults).toEqual([]);
    expect(Object.entries((dto as RootDto).map!)).toEqual([
      ['constructor', 1],
      ['toString', 2],
      ['__proto__', 3],
    ]);
  });
});

describe('faults', () => {
  it('reports one fault per value, its type before its rules, and a wrong type does not hide faults of other values', () => {
    const { faults } = ofText(
      '{"leaf":{"name":"ABCDE","size":10},"leaves":[{"name":7},{}],"numbers":[9,"x"],"map":{"longer-than-that":"x","b":true}}',
    );
    expect(faults).toEqual([
      'leaves[0].name type',
      'numbers[1] type',
      'map.b type',
      'leaf.name too_long',
      'leaf.size max',
      'leaves[1].name required',
      'numbers[0] max',
      'map.longer-than-that too_long',
    ]);
  });

  it('skips the joint checks of an object that has faults in single fields, and of no other object', () => {
    const leaves = '[{"name":"bad"},{"name":"bad","size":10}]';
    expect(ofText(`{"leaves":${leaves},"map":{"a":1,"b":"x"}}`).faults).toEqual([
      'map.b type',
      'leaves[0].name bad',
      'leaves[1].size max',
      'map invalid',
    ]);
  });

  it('does not validate the items of a list that is too long or repeats an item', () => {
    expect(ofText('{"leaves":[1,2,3,4],"numbers":[9,9],"map":{"a":"","b":"","c":"","d":""}}').faults).toEqual([
      'leaves max_items',
      'numbers unique',
      'map max_entries',
    ]);
  });

  it('counts characters like JSON Schema, and refuses integers that are not exact', () => {
    expect(ofText('{"leaf":{"name":"❤\uFE0F❤\uFE0F"},"numbers":[9007199254740992]}').faults).toEqual([
      'leaf.name too_long',
      'numbers[0] max',
    ]);
  });

  it('reports the same for the same value, however often it is read', () => {
    for (let i = 0; i < 3; i += 1) expect(ofText('{"leaf":{"name":"abc"}}').faults).toEqual([]);
  });

  it('reports fifty unknown fields of an object, the first ones by name', () => {
    const names = Array.from({ length: 60 }, (_, index) => `k${99 - index}`);
    expect(read(Object.fromEntries(names.map((name) => [name, 1]))).unknown).toEqual(names.sort().slice(0, 50));
  });
});

describe('unknown fields', () => {
  it('suggests the near name at the same level, or the same name elsewhere in the object', () => {
    expect(
      ofText('{"nots":1,"leaf":{"nane":"a","name":"a","flag":1},"leaves":[{"Name":"a","name":"b"}]}').meant,
    ).toEqual({ nots: 'note', 'leaf.nane': 'leaf.name', 'leaf.flag': 'flag', 'leaves[0].Name': 'leaves[0].name' });
    expect(ofText('{"size":1,"colour":1}').meant).toEqual({ size: 'leaf.size', colour: undefined });
  });

  it('names the unknown field in the message of the required field that it may have been meant to be', () => {
    expect(ofText('{"leaf":{"nmae":"a"},"leaves":[{"nane":"b"},{}]}').messages).toEqual([
      'leaf.name is required; did you misspell it as `leaf.nmae`?',
      'leaves[0].name is required; did you misspell it as `leaves[0].nane`?',
      'leaves[1].name is required',
    ]);
  });

  it('reads unknown fields of any number and name without an error, and bounds the hints', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom('nmae', 'leafs', 'siez'));
    const given = fc.dictionary(anything, fc.dictionary(anything, fc.integer(), { maxKeys: 60 }), { maxKeys: 80 });
    fc.assert(
      fc.property(given, (extra) => {
        const { meant } = read({ ...extra, leaf: { name: 'a', ...extra } });
        expect(Object.values(meant).filter((one) => one !== undefined).length).toBeLessThanOrEqual(50);
      }),
    );
  });
});

describe('a merge patch', () => {
  const removals = (patch: Record<string, unknown>) => {
    const findings = newFindings();
    addUnknownRemovals(RootDto, patch, 'patch', findings);
    return findings.unknown.map(({ field, meant }) => [field, meant]);
  };

  it('has unknown fields that it would remove, which the merged object does not show', () => {
    const patch = { note: null, nots: null, leaf: { nmae: null, size: null }, free: { any: null }, map: { a: null } };
    expect(removals(patch)).toEqual([
      ['patch.nots', 'patch.note'],
      ['patch.leaf.nmae', 'patch.leaf.name'],
    ]);
    expect(removals({ other: 1, leaf: { other: {} } })).toEqual([]);
  });

  it('names fifty of them', () => {
    expect(removals(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, null])))).toHaveLength(
      50,
    );
  });
});

describe('values', () => {
  it('reads null as absent if it is allowed, and fills in defaults without validating them', () => {
    expect(Object.entries(ofText('{"leaf":null,"note":null}').dto)).toEqual([['ratio', 1]]);
  });

  it('converts values of queries from text if they fit, and ignores unknown parameters', () => {
    class QueryDto extends RootDto {}
    expect(read({ ratio: '1.5', flag: 'false', numbers: '3', extra: 'x' }, QueryDto, true)).toMatchObject({
      faults: [],
      unknown: [],
      dto: { ratio: 1.5, flag: false, numbers: [3] },
    });
    const odd = { ratio: '1e1', flag: 'TRUE', numbers: ['1', 'x'], note: ['a', 'b'] };
    expect(read(odd, QueryDto, true).faults).toEqual(['note type', 'numbers[1] type', 'ratio type', 'flag type']);
  });
});

it('refuses a class that redefines a field of its parent, because the rules of the parent would stay', () => {
  class ChildDto extends BaseDto {
    @StringField()
    declare note: string;
  }
  expect(() => read({}, ChildDto)).toThrow('ChildDto and its parent both define the field note');
});
