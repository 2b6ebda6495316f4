import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
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
  @ObjectField(() => LeafDto, { optional: true })
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

/** What was found in a value, briefly, and the DTO if nothing was. */
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

describe('objects that are not what they seem', () => {
  it.each(['constructor', '__proto__', 'hasOwnProperty', 'toString', '__defineGetter__', '', '0', '?', 'value'])(
    'names and drops an unknown %j, and judges the rest',
    (name) => {
      const leaf = `{"name":"toolong","${name}":{"prototype":{},"name":1}}`;
      const { faults, unknown, dto } = ofText(`{"${name}":null,"note":1,"leaves":[${leaf}]}`);
      expect(faults).toEqual(['note type', 'leaves[0].name too_long']);
      expect(unknown).toEqual([`leaves[0].${name}`, name]);
      expect(Object.getPrototypeOf(dto)).toBe(RootDto.prototype);
      expect(Object.keys(dto)).toEqual(['leaves', 'ratio']);
    },
  );

  it('reads own members only, and objects without a prototype', () => {
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
    ['{"ratio":null}', 'ratio type'],
  ])('refuses %s', (text, fault) => expect(ofText(text).faults).toEqual([fault]));

  it('takes any key of a map for a key', () => {
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
  it('are one for a value, with its type before its rules, and a type does not hide the rules of others', () => {
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

  it('of single fields keep the checks of several away, and of no other object', () => {
    const leaves = '[{"name":"bad"},{"name":"bad","size":10}]';
    expect(ofText(`{"leaves":${leaves},"map":{"a":1,"b":"x"}}`).faults).toEqual([
      'map.b type',
      'leaves[0].name bad',
      'leaves[1].size max',
      'map invalid',
    ]);
  });

  it('leave the items of a list alone that is too long or repeats itself', () => {
    expect(ofText('{"leaves":[1,2,3,4],"numbers":[9,9],"map":{"a":"","b":"","c":"","d":""}}').faults).toEqual([
      'leaves max_items',
      'numbers unique',
      'map max_entries',
    ]);
  });

  it('count characters as JSON Schema does, and integers as far as they are exact', () => {
    expect(ofText('{"leaf":{"name":"❤\uFE0F❤\uFE0F"},"numbers":[9007199254740992]}').faults).toEqual([
      'numbers[0] type',
      'leaf.name too_long',
    ]);
  });

  it('do not depend on what was read before', () => {
    for (let i = 0; i < 3; i += 1) expect(ofText('{"leaf":{"name":"abc"}}').faults).toEqual([]);
  });

  it('name fifty unknown fields of an object, the first by name', () => {
    const names = Array.from({ length: 60 }, (_, index) => `k${99 - index}`);
    expect(read(Object.fromEntries(names.map((name) => [name, 1]))).unknown).toEqual(names.sort().slice(0, 50));
  });
});

describe('unknown fields', () => {
  it('are told what they were probably meant to be, at their own level or where the name stands in the whole object', () => {
    expect(
      ofText('{"nots":1,"leaf":{"nane":"a","name":"a","flag":1},"leaves":[{"Name":"a","name":"b"}]}').meant,
    ).toEqual({ nots: 'note', 'leaf.nane': 'leaf.name', 'leaf.flag': 'flag', 'leaves[0].Name': 'leaves[0].name' });
    expect(ofText('{"size":1,"colour":1}').meant).toEqual({ size: 'leaf.size', colour: undefined });
  });

  it('stand in the message of the required field that they may have been meant to be', () => {
    expect(ofText('{"leaf":{"nmae":"a"},"leaves":[{"nane":"b"},{}]}').messages).toEqual([
      'leaf.name is required; did you misspell it as `leaf.nmae`?',
      'leaves[0].name is required; did you misspell it as `leaves[0].nane`?',
      'leaves[1].name is required',
    ]);
  });

  it('in any number and of any names are read without an error, and hints are bounded', () => {
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

describe('values', () => {
  it('are absent where null is allowed, and defaults are copies that nobody judges', () => {
    expect(Object.entries(ofText('{"leaf":null,"note":null}').dto)).toEqual([['ratio', 1]]);
  });

  it('of queries are turned from text where they fit, and unknown ones are not looked at', () => {
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

it('a class cannot redefine a field of its parent, whose rules would stay', () => {
  class ChildDto extends BaseDto {
    @StringField()
    declare note: string;
  }
  expect(() => read({}, ChildDto)).toThrow('ChildDto and its parent both define the field note');
});
