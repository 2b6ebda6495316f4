import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBase64,
  IsBoolean,
  IsIn,
  IsInstance,
  IsNumber,
  IsObject,
  IsString,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { broken, byProperty, judgeBy, mistyped, settle } from './faults.js';
import type { Shape } from './field-table.js';
import { closeObject, openObject } from './read-object.js';
import { isPlainObject, isStorableJson, isTimestamp, lengthOf } from './values.js';

export interface StringRules {
  /** Characters, as Unicode counts them. */
  min?: number;
  max?: number;
  pattern?: RegExp;
  enum?: readonly string[];
  format?: 'uri' | 'uuid' | 'date-time' | 'byte' | 'password';
}

export interface NumberRules {
  min?: number;
  max?: number;
  exclusiveMin?: number;
}

export interface ArrayRules {
  minItems?: number;
  maxItems?: number;
  /** Refuses equal scalars. */
  unique?: boolean;
}

/** A kind of value: the rules that class-validator judges it by, in their order, and its shape. */
export interface FieldKind {
  /** @param isEach whether the rules are for each item of a list instead of one value */
  rules(isEach?: boolean): PropertyDecorator[];
  shape: Shape;
}

/** A rule that class-validator lacks. */
function rule<T>(name: string, holds: (value: T) => boolean, options: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: holds as (value: unknown) => boolean } }, options);
}

function some(...rules: (PropertyDecorator | false | undefined)[]): PropertyDecorator[] {
  return rules.filter((one) => typeof one === 'function');
}

function storable(isEach?: boolean): PropertyDecorator {
  return rule('storable', isStorableJson, broken('characters', 'must not hold NUL or lone surrogates', isEach));
}

const FORMATS: Partial<Record<string, (isEach?: boolean) => PropertyDecorator>> = {
  // IsUrl knows a few schemes only, and wants hosts with a dot.
  uri: (isEach) =>
    rule('uri', (text: string) => URL.canParse(text), broken('format', 'must be an absolute URI', isEach)),
  uuid: (isEach) => IsUUID(undefined, broken('format', 'must be a UUID', isEach)),
  byte: (isEach) => IsBase64(undefined, broken('format', 'must be base64', isEach)),
  'date-time': (isEach) => rule('timestamp', isTimestamp, broken('format', 'must be an RFC 3339 time', isEach)),
};

export function textKind({ min, max, pattern, enum: allowed, format }: StringRules): FieldKind {
  if (allowed) {
    const message = () => `must be one of ${allowed.join(', ')}`;
    const rules = (isEach?: boolean) => [
      IsString(mistyped('a string', isEach)),
      IsIn(allowed, broken('enum', message, isEach)),
    ];
    return { rules, shape: {} };
  }
  // A global or sticky pattern would carry state from one request into the next.
  const stateless = pattern && new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  // MinLength and MaxLength leave out variation selectors, which JSON Schema counts.
  const isLongEnough = (value: string) => min === undefined || value.length >= 2 * min || lengthOf(value) >= min;
  const isShortEnough = (value: string) => max === undefined || value.length <= max || lengthOf(value) <= max;
  const rules = (isEach?: boolean) =>
    some(
      IsString(mistyped('a string', isEach)),
      storable(isEach),
      min !== undefined &&
        rule('atLeast', isLongEnough, broken('too_short', `must have at least ${min} characters`, isEach)),
      max !== undefined &&
        rule('atMost', isShortEnough, broken('too_long', `must have at most ${max} characters`, isEach)),
      stateless && Matches(stateless, broken('pattern', `must match ${stateless.source}`, isEach)),
      format && FORMATS[format]?.(isEach),
    );
  return { rules, shape: {} };
}

export function timestampKind(): FieldKind {
  const rules = (isEach?: boolean) => [
    IsString(mistyped('an RFC 3339 time', isEach)),
    rule('timestamp', isTimestamp, broken('format', 'must be an RFC 3339 time with an offset', isEach)),
  ];
  return { rules, shape: {} };
}

/** In a query, a text that is not a number stays a text and is refused as one. */
const NUMBER: Shape = {
  open: (given, isText) =>
    isText && typeof given === 'string' && /^-?\d{1,17}(\.\d{1,17})?$/.test(given) ? Number(given) : given,
};

export function numberKind({ min, max, exclusiveMin }: NumberRules, isInteger = false): FieldKind {
  const isAbove = (value: number) => exclusiveMin === undefined || value > exclusiveMin;
  const rules = (isEach?: boolean) =>
    some(
      // IsInt takes integers that a JavaScript number cannot tell apart.
      isInteger
        ? rule('integer', Number.isSafeInteger, mistyped('an integer', isEach))
        : IsNumber({}, mistyped('a number', isEach)),
      min !== undefined && Min(min, broken('min', `must be at least ${min}`, isEach)),
      max !== undefined && Max(max, broken('max', `must be at most ${max}`, isEach)),
      exclusiveMin !== undefined &&
        rule('moreThan', isAbove, broken('min', `must be more than ${exclusiveMin}`, isEach)),
    );
  return { rules, shape: NUMBER };
}

export const BOOLEAN_KIND: FieldKind = {
  rules: (isEach) => [IsBoolean(mistyped('true or false', isEach))],
  shape: { open: (given, isText) => (isText && (given === 'true' || given === 'false') ? given === 'true' : given) },
};

export function jsonKind(isAny: boolean): FieldKind {
  const rules = (isEach?: boolean) => some(!isAny && IsObject(mistyped('an object', isEach)), storable(isEach));
  return { rules, shape: {} };
}

export function nestedKind(type: () => Function): FieldKind {
  return {
    // ValidateNested by itself would take an array for an object.
    rules: (isEach) => [IsObject(mistyped('an object', isEach)), ValidateNested()],
    shape: {
      open: (given) => (isPlainObject(given) ? openObject(type(), given) : given),
      close: (dto, inside, path, findings) => {
        closeObject(type(), dto as object, inside, path, findings);
        return dto;
      },
      members: type,
    },
  };
}

export function listKind({ rules, shape }: FieldKind, { minItems, maxItems, unique }: ArrayRules): FieldKind {
  const judge = judgeBy(rules());
  return {
    rules: () =>
      some(
        IsArray(mistyped('an array')),
        minItems !== undefined && ArrayMinSize(minItems, broken('min_items', `must have at least ${minItems} items`)),
        maxItems !== undefined && ArrayMaxSize(maxItems, broken('max_items', `must have at most ${maxItems} items`)),
        // ArrayUnique compares each item with each other one.
        unique && rule('unique', areUnique, broken('unique', 'must not repeat an item')),
        ...rules(true),
      ),
    shape: {
      open: (given, isText) => {
        const items: unknown = isText && typeof given === 'string' ? [given] : given;
        // A list that is too long is refused for that alone, so its items are not read.
        if (!Array.isArray(items) || items.length > (maxItems ?? Infinity) || !shape.open) return items;
        return items.map((item) => shape.open!(item, isText));
      },
      close: (items, inside, path, findings) => {
        if (!shape.close) return items;
        const faults = byProperty(inside);
        return (items as unknown[]).map((item, index) =>
          settle(shape, item, faults.get(`${index}`), `${path}[${index}]`, findings),
        );
      },
      closeItems: (items, path, findings) =>
        (items as unknown[]).map((item, index) => settle(shape, item, judge(item), `${path}[${index}]`, findings)),
    },
  };
}

function areUnique(items: unknown[]): boolean {
  return new Set(items).size === items.length;
}

/**
 * While class-validator judges an object with free keys, its keys and its values are two lists of one instance: nothing in it can be taken
 * for a member.
 * @param isRemovable whether `null` is a value, to which no rule applies
 */
export function mapKind(key: FieldKind, value: FieldKind, maxEntries = Infinity, isRemovable = false): FieldKind {
  class Entries {
    readonly #all: [string, unknown][];
    readonly keys: string[];
    readonly values: unknown[];

    constructor(given: object) {
      this.#all = Object.entries(given);
      this.keys = this.#all.map(([name]) => name);
      this.values = this.#all.map(([, item]) => item).filter((item) => !isRemovable || item !== null);
    }

    get all(): readonly [string, unknown][] {
      return this.#all;
    }
  }
  for (const one of key.rules(true)) one(Entries.prototype, 'keys');
  for (const one of value.rules(true)) one(Entries.prototype, 'values');
  const judgeKey = judgeBy(key.rules());
  const judgeValue = judgeBy(value.rules());
  const isSmall = ({ keys }: Entries) => keys.length <= maxEntries;
  return {
    rules: () => [
      IsInstance(Entries, mistyped('an object')),
      rule('maxEntries', isSmall, broken('max_entries', `must have at most ${maxEntries} entries`)),
      ValidateNested(),
    ],
    shape: {
      open: (given) => (isPlainObject(given) ? new Entries(given) : given),
      close: (entries, inside, path, findings) => {
        const { all } = entries as Entries;
        if (inside.length === 0) return Object.fromEntries(all);
        const kept: [string, unknown][] = [];
        for (const [name, item] of all) {
          const at = `${path}.${name}`;
          if (settle(key.shape, name, judgeKey(name), at, findings) === undefined) continue;
          const fault = isRemovable && item === null ? undefined : judgeValue(item);
          kept.push([name, settle(value.shape, item, fault, at, findings)]);
        }
        return Object.fromEntries(kept);
      },
    },
  };
}
