import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsDefined, ValidateIf } from 'class-validator';
import { broken } from './faults.js';
import {
  BOOLEAN_KIND,
  jsonKind,
  listKind,
  mapKind,
  nestedKind,
  numberKind,
  textKind,
  timestampKind,
  type ArrayRules,
  type FieldKind,
  type NumberRules,
  type StringRules,
} from './field-kinds.js';
import { addField } from './field-table.js';

export type ItemKind = 'string' | 'integer' | 'number';

/** What every field may say. A field is required unless `optional` or `default` is given. */
export interface FieldOptions<T = unknown> {
  description?: string;
  example?: unknown;
  optional?: boolean;
  /** `null` is published as allowed; in a request it counts as absent. */
  nullable?: boolean;
  /** For merge patches: optional, and `null` stays in the DTO, where it removes what stands there. */
  removable?: boolean;
  default?: T;
  /** Published only: part of answers, never read from a request. */
  readOnly?: boolean;
  writeOnly?: boolean;
  deprecated?: boolean;
  /** A rule of its own: returns the sentence to show when the value breaks it. */
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

/** `null` where none is allowed is a wrong type; where it counts as absent it is gone before class-validator looks. */
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
      isNullable: Boolean(options.nullable || options.optional),
      isRemovable: Boolean(options.removable),
      defaultValue: options.default,
      check: options.check as ((value: unknown) => string | undefined) | undefined,
      shape,
    });
  const presence = options.removable ? REMOVABLE : isRequired ? REQUIRED : OPTIONAL;
  return applyDecorators(describe, remember, presence, ...rules());
}

/** A text. NUL and lone surrogates are refused everywhere: Postgres can store neither. */
export function StringField(options: StringOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', ...publishedRules(options) }, textKind(options));
}

export function IntField(options: NumberOptions = {}): PropertyDecorator {
  return field(options, { type: 'integer', ...publishedRange(options) }, numberKind(options, true));
}

export function NumberField(options: NumberOptions = {}): PropertyDecorator {
  return field(options, { type: 'number', ...publishedRange(options) }, numberKind(options));
}

export function BooleanField(options: FieldOptions<boolean> = {}): PropertyDecorator {
  return field(options, { type: 'boolean' }, BOOLEAN_KIND);
}

/** RFC 3339 with an offset; the DTO holds the text as it was sent. */
export function TimestampField(options: FieldOptions<string> = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'date-time' }, timestampKind());
}

/** A nested DTO. */
export function ObjectField<T extends object>(type: Thunk, options: FieldOptions<T> = {}): PropertyDecorator {
  return field(options, lazily(type), nestedKind(type));
}

/** A list of DTOs or of scalars. */
export function ArrayField(of: Thunk | ItemKind, options: ArrayOptions = {}): PropertyDecorator {
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
  const published = { type: 'object', additionalProperties: values, maxProperties: options.maxEntries };
  const key = textKind({ min: 1, max: options.maxKeyLength, pattern: options.keyPattern });
  return field(options, published, mapKind(key, kindOfEntry(options), options.maxEntries, options.removableValues));
}

function kindOfEntry({ values, maxValueLength }: MapOptions): FieldKind {
  if (values === 'json') return jsonKind(true);
  if (values === 'string') return textKind({ max: maxValueLength });
  return values === 'number' ? numberKind({}) : BOOLEAN_KIND;
}

/** A free JSON object (or, with `any`, any JSON value), handed on as it came. */
export function JsonField(options: JsonOptions = {}): PropertyDecorator {
  // An empty schema is the one way to say "any value" in JSON Schema.
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
