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
import { broken, byProperty, mistyped, settle } from './faults.js';
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

/** A kind of value: the rules that class-validator judges it by, in the order they are asked, and its shape. */
export interface Kind {
  rules: PropertyDecorator[];
  shape: Shape;
}

/** A rule that class-validator lacks. */
function rule<T>(name: string, holds: (value: T) => boolean, options: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: holds as (value: unknown) => boolean } }, options);
}

function some(...rules: (PropertyDecorator | false | undefined)[]): PropertyDecorator[] {
  return rules.filter((one) => typeof one === 'function');
}

const STORABLE = rule('storable', isStorableJson, broken('characters', 'must not hold NUL or lone surrogates'));
const FORMATS: Partial<Record<string, PropertyDecorator>> = {
  // IsUrl knows a few schemes only, and wants hosts with a dot.
  uri: rule('uri', (text: string) => URL.canParse(text), broken('format', 'must be an absolute URI')),
  uuid: IsUUID(undefined, broken('format', 'must be a UUID')),
  byte: IsBase64(undefined, broken('format', 'must be base64')),
  'date-time': rule('timestamp', isTimestamp, broken('format', 'must be an RFC 3339 time')),
};

export function text({ min, max, pattern, enum: allowed, format }: StringRules): Kind {
  const type = IsString(mistyped('a string'));
  if (allowed) {
    const message = () => `must be one of ${allowed.join(', ')}`;
    return { rules: [type, IsIn(allowed, broken('enum', message))], shape: {} };
  }
  const rules = some(
    type,
    STORABLE,
    // MinLength and MaxLength leave out variation selectors, which JSON Schema counts.
    min !== undefined &&
      rule('atLeast', (value: string) => value.length >= 2 * min || lengthOf(value) >= min, tooShort(min)),
    max !== undefined && rule('atMost', (value: string) => value.length <= max || lengthOf(value) <= max, tooLong(max)),
    // A global or sticky pattern would carry state from one request into the next.
    pattern &&
      Matches(
        new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')),
        broken('pattern', `must match ${pattern.source}`),
      ),
    format && FORMATS[format],
  );
  return { rules, shape: {} };
}

const tooShort = (min: number) => broken('too_short', `must have at least ${min} characters`);
const tooLong = (max: number) => broken('too_long', `must have at most ${max} characters`);

export function timestamp(): Kind {
  const format = rule('timestamp', isTimestamp, broken('format', 'must be an RFC 3339 time with an offset'));
  return { rules: [IsString(mistyped('an RFC 3339 time')), format], shape: {} };
}

/** In a query, a text that is not a number stays a text and is refused as one. */
const NUMBER: Shape = {
  open: (given, isText) =>
    isText && typeof given === 'string' && /^-?\d{1,17}(\.\d{1,17})?$/.test(given) ? Number(given) : given,
};

export function number({ min, max, exclusiveMin }: NumberRules, isInteger = false): Kind {
  const rules = some(
    // IsInt takes integers that a JavaScript number cannot tell apart.
    isInteger ? rule('integer', Number.isSafeInteger, mistyped('an integer')) : IsNumber({}, mistyped('a number')),
    min !== undefined && Min(min, broken('min', `must be at least ${min}`)),
    max !== undefined && Max(max, broken('max', `must be at most ${max}`)),
    exclusiveMin !== undefined &&
      rule('moreThan', (value: number) => value > exclusiveMin, broken('min', `must be more than ${exclusiveMin}`)),
  );
  return { rules, shape: NUMBER };
}

export const BOOLEAN: Kind = {
  rules: [IsBoolean(mistyped('true or false'))],
  shape: { open: (given, isText) => (isText && (given === 'true' || given === 'false') ? given === 'true' : given) },
};

export function json(isAny: boolean): Kind {
  return { rules: isAny ? [STORABLE] : [IsObject(mistyped('an object')), STORABLE], shape: {} };
}

export function nested(type: () => Function): Kind {
  return {
    // ValidateNested by itself would take an array for an object.
    rules: [IsObject(mistyped('an object')), ValidateNested()],
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

interface Box {
  value: unknown;
}

/** class-validator's `each` does not say which item is at fault, so every item stands in an object of its own. */
function boxOf<T extends Box>(members: { [name in keyof T]: PropertyDecorator[] }): (values: T) => T {
  const type = class {};
  for (const [name, rules] of Object.entries<PropertyDecorator[]>(members))
    for (const one of rules) one(type.prototype, name);
  return (values) => Object.assign(new type(), values);
}

export function list({ rules, shape }: Kind, { minItems, maxItems, unique }: ArrayRules): Kind {
  const boxed = boxOf<Box>({ value: rules });
  return {
    rules: some(
      IsArray(mistyped('an array')),
      minItems !== undefined && ArrayMinSize(minItems, broken('min_items', `must have at least ${minItems} items`)),
      maxItems !== undefined && ArrayMaxSize(maxItems, broken('max_items', `must have at most ${maxItems} items`)),
      // ArrayUnique compares each item with each other one.
      unique && rule('unique', areUnique, broken('unique', 'must not repeat an item')),
      ValidateNested(),
    ),
    shape: {
      open: (given, isText) => {
        const items: unknown = isText && typeof given === 'string' ? [given] : given;
        // A list that is too long is refused for that alone, so nobody looks at its items.
        if (!Array.isArray(items) || items.length > (maxItems ?? Infinity)) return items;
        return items.map((value) => boxed({ value: shape.open ? shape.open(value, isText) : value }));
      },
      close: (boxes, inside, path, findings) => {
        const faults = byProperty(inside);
        return (boxes as Box[]).map(({ value }, index) =>
          settle(shape, value, faults.get(`${index}`)?.children?.[0], `${path}[${index}]`, findings),
        );
      },
    },
  };
}

function areUnique(boxes: Box[]): boolean {
  return new Set(boxes.map(({ value }) => value)).size === boxes.length;
}

/** While it is judged it is a `Map`, whose keys nobody takes for members of an object. */
export function map(key: Kind, value: Kind, maxEntries = Infinity): Kind {
  const boxed = boxOf<Box & { key: string }>({ key: key.rules, value: value.rules });
  const isSmall = (entries: Map<string, unknown>) => entries.size <= maxEntries;
  return {
    rules: [
      IsInstance(Map, mistyped('an object')),
      rule('maxEntries', isSmall, broken('max_entries', `must have at most ${maxEntries} entries`)),
      ValidateNested(),
    ],
    shape: {
      open: (given) => {
        if (!isPlainObject(given)) return given;
        const entries = Object.entries(given);
        if (entries.length > maxEntries) return new Map(entries);
        return new Map(entries.map(([name, item]) => [name, boxed({ key: name, value: item })]));
      },
      close: (boxes, inside, path, findings) => {
        const faults = byProperty(inside);
        const kept: [string, unknown][] = [];
        for (const [name, box] of boxes as Map<string, Box>) {
          const found = byProperty(faults.get(name)?.children ?? []);
          const at = `${path}.${name}`;
          if (settle(key.shape, name, found.get('key'), at, findings) === undefined) continue;
          kept.push([name, settle(value.shape, box.value, found.get('value'), at, findings)]);
        }
        return Object.fromEntries(kept);
      },
    },
  };
}
