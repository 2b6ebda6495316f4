import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { addField, type Reader } from './field-table.js';
import {
  arrayReader,
  booleanReader,
  jsonReader,
  mapReader,
  numberReader,
  objectReader,
  stringReader,
  timestampReader,
  type ItemKind,
  type StringRules,
} from './field-readers.js';

/** What every field may say. A field is required unless `optional` or `default` is given. */
export interface FieldOptions<T = unknown> {
  description?: string;
  example?: unknown;
  optional?: boolean;
  /** `null` is published as allowed; in a request it counts as absent. */
  nullable?: boolean;
  default?: T;
  /** Published only: part of answers, never read from a request. */
  readOnly?: boolean;
  writeOnly?: boolean;
  deprecated?: boolean;
  /** A rule of its own: returns the sentence to show when the value breaks it. */
  check?: (value: T) => string | undefined;
}

export interface StringOptions extends FieldOptions<string>, StringRules {}

export interface NumberOptions extends FieldOptions<number> {
  min?: number;
  max?: number;
  exclusiveMin?: number;
}

export interface ArrayOptions extends FieldOptions<unknown[]> {
  minItems?: number;
  maxItems?: number;
  /** Refuses equal scalars. */
  unique?: boolean;
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
}

export interface JsonOptions extends FieldOptions {
  /** Any JSON value, not only an object. */
  any?: boolean;
}

type Thunk = () => Function;

function field(options: FieldOptions<any>, published: object, reader: Reader): PropertyDecorator {
  const isRequired = !options.optional && options.default === undefined;
  const describe = ApiProperty({
    ...without({
      description: options.description,
      example: options.example,
      default: options.default,
      nullable: options.nullable,
      readOnly: options.readOnly,
      writeOnly: options.writeOnly,
      deprecated: options.deprecated,
    }),
    required: isRequired,
    ...without(published),
  } as ApiPropertyOptions);
  return (target, key) => {
    describe(target, key);
    if (options.readOnly) return;
    addField(target.constructor, {
      name: String(key),
      isRequired,
      isNullable: Boolean(options.nullable || options.optional),
      defaultValue: options.default,
      check: options.check as ((value: unknown) => string | undefined) | undefined,
      reader,
    });
  };
}

/** A text. NUL and lone surrogates are refused everywhere: Postgres can store neither. */
export function StringField(options: StringOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', ...publishedRules(options) }, stringReader(options));
}

export function IntField(options: NumberOptions = {}): PropertyDecorator {
  return field(options, { type: 'integer', ...publishedRange(options) }, numberReader({ ...options, isInteger: true }));
}

export function NumberField(options: NumberOptions = {}): PropertyDecorator {
  return field(options, { type: 'number', ...publishedRange(options) }, numberReader(options));
}

export function BooleanField(options: FieldOptions<boolean> = {}): PropertyDecorator {
  return field(options, { type: 'boolean' }, booleanReader);
}

/** RFC 3339 with an offset; the DTO holds the text as it was sent. */
export function TimestampField(options: FieldOptions<string> = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'date-time' }, timestampReader);
}

/** A nested DTO. */
export function ObjectField(type: Thunk, options: FieldOptions<any> = {}): PropertyDecorator {
  return field(options, lazily(type), objectReader(type));
}

/** A list of DTOs or of scalars. */
export function ArrayField(of: Thunk | ItemKind, options: ArrayOptions = {}): PropertyDecorator {
  const bounds = { minItems: options.minItems, maxItems: options.maxItems, uniqueItems: options.unique };
  if (typeof of === 'function')
    return field(options, { ...lazily(of), isArray: true, ...bounds }, arrayReader(of, options));
  const items = without({
    type: of,
    ...(of === 'string' ? publishedRules(options.item ?? {}) : { minimum: options.itemMin, maximum: options.itemMax }),
  });
  return field(options, { type: 'array', items, ...bounds }, arrayReader(of, options));
}

/** An object whose keys the client chooses, such as labels. */
export function MapField(options: MapOptions): PropertyDecorator {
  const values =
    options.values === 'json' ? true : without({ type: options.values, maxLength: options.maxValueLength });
  const published = { type: 'object', additionalProperties: values, maxProperties: options.maxEntries };
  return field(options, published, mapReader(options));
}

/** A free JSON object (or, with `any`, any JSON value), handed on as it came. */
export function JsonField(options: JsonOptions = {}): PropertyDecorator {
  // An empty schema is the one way to say "any value" in JSON Schema.
  const published = options.any
    ? { type: undefined, oneOf: ANY_VALUE }
    : { type: 'object', additionalProperties: true };
  return field(options, published, jsonReader(Boolean(options.any)));
}

const ANY_VALUE = ['string', 'number', 'boolean', 'object', 'array', 'null'].map((type) =>
  type === 'array' ? { type, items: {} } : type === 'object' ? { type, additionalProperties: true } : { type },
);

function publishedRules(rules: StringRules): object {
  return {
    minLength: rules.min,
    maxLength: rules.max,
    pattern: rules.pattern?.source,
    // By reference: a list that other modules add to is complete only when the document is made.
    enum: rules.enum,
    format: rules.format,
  };
}

function publishedRange(range: NumberOptions): object {
  return { minimum: range.min, maximum: range.max, exclusiveMinimum: range.exclusiveMin };
}

/** Swagger takes a function for a thunk, not for the class itself, only if the function is named `type`. */
function lazily(thunk: Thunk): object {
  return { type: () => thunk() };
}

/** Swagger prints members that are undefined, so they are taken out. */
function without<T extends object>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
