import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBase64,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInstance,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import {
  addField,
  broken,
  byProperty,
  closeObject,
  hasFewValues,
  hasShortNumbers,
  isPlainObject,
  isStorableJson,
  isTimestamp,
  judgeBy,
  lengthOf,
  mistyped,
  MOST_JSON_VALUES,
  openObject,
  settle,
  type Shape,
} from './read-object.js';
import { nearest } from './near-miss.js';

export interface StringRules {
  /** Length in Unicode characters. */
  min?: number;
  max?: number;
  pattern?: RegExp;
  /** The rest of the error sentence about the pattern, if its source explains little: `must be …`. */
  patternMessage?: string;
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

/** A kind of value: the rules that class-validator applies to it, in order, and its shape. */
export interface FieldKind {
  /** @param isEach whether the rules apply to each item of a list instead of one value */
  rules(isEach?: boolean): PropertyDecorator[];
  shape: Shape;
}

/** A rule that class-validator does not have. */
function rule<T>(name: string, holds: (value: T) => boolean, options: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: holds as (value: unknown) => boolean } }, options);
}

function some(...rules: (PropertyDecorator | false | undefined)[]): PropertyDecorator[] {
  return rules.filter((one) => typeof one === 'function');
}

function storable(isEach?: boolean): PropertyDecorator {
  return rule('storable', isStorableJson, broken('characters', 'must not contain NUL or lone surrogates', isEach));
}

const FORMATS: Partial<Record<string, (isEach?: boolean) => PropertyDecorator>> = {
  // IsUrl accepts only a few schemes, and requires hosts with a dot.
  uri: (isEach) =>
    rule('uri', (text: string) => URL.canParse(text), broken('format', 'must be an absolute URI', isEach)),
  uuid: (isEach) => IsUUID(undefined, broken('format', 'must be a UUID', isEach)),
  byte: (isEach) => IsBase64(undefined, broken('format', 'must be base64', isEach)),
  'date-time': (isEach) => rule('timestamp', isTimestamp, broken('format', 'must be an RFC 3339 time', isEach)),
};

export function textKind({ min, max, pattern, patternMessage, enum: allowed, format }: StringRules): FieldKind {
  if (allowed) {
    const message = ({ value }: ValidationArguments) => {
      const near = typeof value === 'string' ? nearest(value, allowed) : undefined;
      return `must be one of ${allowed.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`;
    };
    const rules = (isEach?: boolean) => [
      IsString(mistyped('a string', isEach)),
      IsIn(allowed, broken('enum', message, isEach)),
    ];
    return { rules, shape: {} };
  }
  // A global or sticky pattern would carry state from one request into the next.
  const stateless = pattern && new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  // MinLength and MaxLength do not count variation selectors, but JSON Schema does.
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
      stateless && Matches(stateless, broken('pattern', patternMessage ?? `must match ${stateless.source}`, isEach)),
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

/** In a query, a text that is not a number stays a text, and is refused as such. */
const NUMBER: Shape = {
  open: (given, isText) =>
    isText && typeof given === 'string' && /^-?\d{1,17}(\.\d{1,17})?$/.test(given) ? Number(given) : given,
};

/** JavaScript cannot tell larger integers apart. */
const LARGEST_INTEGER = Number.MAX_SAFE_INTEGER;

export function numberKind({ min, max, exclusiveMin }: NumberRules, isInteger = false): FieldKind {
  const isAbove = (value: number) => exclusiveMin === undefined || value > exclusiveMin;
  const rules = (isEach?: boolean) =>
    some(
      isInteger ? IsInt(mistyped('an integer', isEach)) : IsNumber({}, mistyped('a number', isEach)),
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
  const tooMany = (isEach?: boolean) => broken('too_many', `must contain at most ${MOST_JSON_VALUES} values`, isEach);
  const outOfRange = (isEach?: boolean) => broken('range', 'must contain only numbers from 1e-30 to 1e30', isEach);
  const rules = (isEach?: boolean) =>
    some(
      !isAny && IsObject(mistyped('an object', isEach)),
      rule('fewValues', hasFewValues, tooMany(isEach)),
      storable(isEach),
      rule('shortNumbers', hasShortNumbers, outOfRange(isEach)),
    );
  return { rules, shape: {} };
}

export function nestedKind(type: () => Function): FieldKind {
  return {
    // ValidateNested alone would accept an array as an object.
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
        // ArrayUnique compares each item with every other one.
        unique && rule('unique', areUnique, broken('unique', 'must not repeat an item')),
        ...rules(true),
      ),
    shape: {
      open: (given, isText) => {
        const items: unknown = isText && typeof given === 'string' ? [given] : given;
        // A list that is too long is refused for its length alone, so its items are not read.
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
 * While class-validator validates an object with free keys, it sees two lists of one instance: the keys and the values.
 * So no key can be mistaken for a member.
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

export type ItemKind = 'string' | 'integer' | 'number';

/** Options of every field. A field is required unless `optional` or `default` is given. */
export interface FieldOptions<T = unknown> {
  description?: string;
  example?: unknown;
  optional?: boolean;
  /** For answers: the value may be `null`. In requests, `null` counts as absent wherever a field may be left out. */
  nullable?: boolean;
  /** For merge patches: the field is optional. `null` stays in the DTO and removes the current value. */
  removable?: boolean;
  default?: T;
  /** Only for the document: the field is part of answers and is never read from a request. */
  readOnly?: boolean;
  writeOnly?: boolean;
  deprecated?: boolean;
  /** A rule of this field: returns an error sentence if the value breaks it. */
  check?: (value: T) => string | undefined;
}

export interface StringOptions extends FieldOptions<string>, StringRules {}

export interface NumberOptions extends FieldOptions<number>, NumberRules {}

export interface ArrayOptions extends FieldOptions<unknown[]>, ArrayRules {
  /** Rules of string items. */
  item?: StringRules;
  /** Range of numeric items. */
  itemMin?: number;
  itemMax?: number;
}

export interface MapOptions extends FieldOptions<Record<string, unknown>> {
  values: 'string' | 'number' | 'boolean' | 'json';
  maxEntries?: number;
  maxKeyLength?: number;
  keyPattern?: RegExp;
  maxValueLength?: number;
  /** For merge patches: `null` removes an entry, and stays in the DTO. */
  removableValues?: boolean;
}

export interface JsonOptions extends FieldOptions {
  /** Any JSON value, not only an object. */
  any?: boolean;
}

type Thunk = () => Function;

/**
 * If `null` is not allowed, it is a wrong type. If `null` counts as absent, it is removed before class-validator runs.
 */
const REQUIRED = IsDefined({ ...broken('required', 'is required'), validateIf: (_dto, value) => value !== null });
const OPTIONAL = ValidateIf((_dto, value) => value !== undefined);
const REMOVABLE = ValidateIf((_dto, value) => value !== undefined && value !== null);

function field<T>(options: FieldOptions<T>, published: object, { rules, shape }: FieldKind): PropertyDecorator {
  const isRequired = !options.optional && !options.removable && options.default === undefined;
  const describe = ApiProperty({
    ...without({
      description: options.description,
      example: options.example,
      default: options.default,
      nullable: options.nullable || options.removable,
      readOnly: options.readOnly,
      writeOnly: options.writeOnly,
      deprecated: options.deprecated,
    }),
    required: isRequired,
    ...without(published),
  } as ApiPropertyOptions);
  if (options.readOnly) return describe;
  const remember: PropertyDecorator = (target, key) =>
    addField(target.constructor, {
      name: String(key),
      isNullable: !options.removable && (options.nullable === true || !isRequired),
      isRemovable: Boolean(options.removable),
      defaultValue: options.default,
      check: options.check as ((value: unknown) => string | undefined) | undefined,
      shape,
    });
  const presence = options.removable ? REMOVABLE : isRequired ? REQUIRED : OPTIONAL;
  return applyDecorators(describe, remember, presence, ...rules());
}

/** A text. NUL and lone surrogates are refused everywhere, because Postgres cannot store them. */
export function StringField(options: StringOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', ...publishedRules(options) }, textKind(options));
}

export function IntField(options: NumberOptions = {}): PropertyDecorator {
  const rules = { max: LARGEST_INTEGER, ...options };
  return field(options, { type: 'integer', ...publishedRange(rules) }, numberKind(rules, true));
}

export function NumberField(options: NumberOptions = {}): PropertyDecorator {
  return field(options, { type: 'number', ...publishedRange(options) }, numberKind(options));
}

export function BooleanField(options: FieldOptions<boolean> = {}): PropertyDecorator {
  return field(options, { type: 'boolean' }, BOOLEAN_KIND);
}

/** An RFC 3339 time with an offset. The DTO holds the text as the client sent it. */
export function TimestampField(options: FieldOptions<string> = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'date-time' }, timestampKind());
}

export interface ObjectOptions<T extends object> extends FieldOptions<T> {
  /** Texts that a request may send in place of an object, and the object that each one stands for. */
  short?: Readonly<Record<string, object>>;
}

/** A nested DTO. */
export function ObjectField<T extends object>(type: Thunk, options: ObjectOptions<T> = {}): PropertyDecorator {
  const { short = {} } = options;
  const kind = nestedKind(type);
  const open: Shape['open'] = (given, isText) =>
    kind.shape.open!(typeof given === 'string' && Object.hasOwn(short, given) ? short[given] : given, isText);
  return field(options, lazily(type), { ...kind, shape: { ...kind.shape, open } });
}

/** A list of DTOs or of scalars. */
export function ArrayField(of: Thunk | ItemKind, given: ArrayOptions = {}): PropertyDecorator {
  const options = of === 'integer' ? { itemMax: LARGEST_INTEGER, ...given } : given;
  const kind = kindOfItem(of, options);
  const bounds = { minItems: options.minItems, maxItems: options.maxItems, uniqueItems: options.unique };
  if (typeof of === 'function')
    return field(options, { ...lazily(of), isArray: true, ...bounds }, listKind(kind, options));
  const items = without({
    type: of,
    ...(of === 'string' ? publishedRules(options.item ?? {}) : { minimum: options.itemMin, maximum: options.itemMax }),
  });
  return field(options, { type: 'array', items, ...bounds }, listKind(kind, options));
}

function kindOfItem(of: Thunk | ItemKind, { item, itemMin, itemMax }: ArrayOptions): FieldKind {
  if (typeof of === 'function') return nestedKind(of);
  return of === 'string' ? textKind(item ?? {}) : numberKind({ min: itemMin, max: itemMax }, of === 'integer');
}

/** An object whose keys the client chooses, such as labels. */
export function MapField(options: MapOptions): PropertyDecorator {
  const type = options.removableValues ? [options.values, 'null'] : options.values;
  const values = options.values === 'json' ? true : without({ type, maxLength: options.maxValueLength });
  const keyRules = { min: 1, max: options.maxKeyLength, pattern: options.keyPattern };
  const published = {
    type: 'object',
    propertyNames: without(publishedRules(keyRules)),
    additionalProperties: values,
    maxProperties: options.maxEntries,
  };
  const key = textKind(keyRules);
  return field(options, published, mapKind(key, kindOfEntry(options), options.maxEntries, options.removableValues));
}

function kindOfEntry({ values, maxValueLength }: MapOptions): FieldKind {
  if (values === 'json') return jsonKind(true);
  if (values === 'string') return textKind({ max: maxValueLength });
  return values === 'number' ? numberKind({}) : BOOLEAN_KIND;
}

/** A free JSON object (or, with `any`, any JSON value), passed on unchanged. */
export function JsonField(options: JsonOptions = {}): PropertyDecorator {
  // An empty schema is the only way to express "any value" in JSON Schema.
  const published = options.any
    ? { type: undefined, oneOf: ANY_VALUE }
    : { type: 'object', additionalProperties: true };
  return field(options, published, jsonKind(Boolean(options.any)));
}

const ANY_VALUE = ['string', 'number', 'boolean', 'object', 'array', 'null'].map((type) =>
  type === 'array' ? { type, items: {} } : type === 'object' ? { type, additionalProperties: true } : { type },
);

function publishedRules(rules: StringRules): object {
  return {
    minLength: rules.min,
    maxLength: rules.max,
    pattern: rules.pattern?.source,
    // By reference: other modules may still add to the list until the document is made.
    enum: rules.enum,
    format: rules.format,
  };
}

function publishedRange(range: NumberOptions): object {
  return { minimum: range.min, maximum: range.max, exclusiveMinimum: range.exclusiveMin };
}

/** Swagger treats a function as a thunk, not as the class itself, only if the function is named `type`. */
function lazily(thunk: Thunk): object {
  return { type: () => thunk() };
}

/** Removes members that are undefined, because Swagger would print them. */
function without<T extends object>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
