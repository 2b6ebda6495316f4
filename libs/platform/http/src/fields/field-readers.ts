import { isBase64, isUUID } from 'class-validator';
import type { Findings, Reader } from './field-table.js';
import { readObject } from './read-object.js';

export type ItemKind = 'string' | 'integer' | 'number';

export interface StringRules {
  /** Characters, as Unicode counts them. */
  min?: number;
  max?: number;
  pattern?: RegExp;
  enum?: readonly string[];
  format?: 'uri' | 'uuid' | 'date-time' | 'byte' | 'password';
}

interface NumberRules {
  min?: number;
  max?: number;
  exclusiveMin?: number;
  isInteger?: boolean;
}

interface ArrayRules {
  minItems?: number;
  maxItems?: number;
  unique?: boolean;
  item?: StringRules;
  itemMin?: number;
  itemMax?: number;
}

interface MapRules {
  values: 'string' | 'number' | 'boolean' | 'json';
  maxEntries?: number;
  maxKeyLength?: number;
  keyPattern?: RegExp;
  maxValueLength?: number;
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const UNSTORABLE = /[\0\p{Cs}]/u;

function mistyped(findings: Findings, path: string, expected: string): undefined {
  findings.mistyped.push({ field: path, code: 'type', message: `${path} must be ${expected}` });
  return undefined;
}

function broken(findings: Findings, path: string, code: string, rule: string): undefined {
  findings.broken.push({ field: path, code, message: `${path} ${rule}` });
  return undefined;
}

/** Whether Postgres can keep a text: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

export function stringReader(rules: StringRules): Reader {
  const allowed = rules.enum ? new Set(rules.enum) : undefined;
  // A global or sticky pattern would carry state from one request into the next.
  const pattern = rules.pattern && new RegExp(rules.pattern.source, rules.pattern.flags.replace(/[gy]/g, ''));
  return (value, path, findings) => {
    if (typeof value !== 'string') return mistyped(findings, path, 'a string');
    if (allowed)
      return allowed.has(value) ? value : broken(findings, path, 'enum', `must be one of ${[...allowed].join(', ')}`);
    if (!isStorable(value)) return broken(findings, path, 'characters', 'must not hold NUL or lone surrogates');
    if (rules.min !== undefined || rules.max !== undefined) {
      const length = lengthOf(value);
      if (length < (rules.min ?? 0))
        return broken(findings, path, 'too_short', `must have at least ${rules.min} characters`);
      if (length > (rules.max ?? Infinity))
        return broken(findings, path, 'too_long', `must have at most ${rules.max} characters`);
    }
    if (pattern && !pattern.test(value)) return broken(findings, path, 'pattern', `must match ${pattern.source}`);
    if (rules.format === 'uri' && !URL.canParse(value))
      return broken(findings, path, 'format', 'must be an absolute URI');
    if (rules.format === 'uuid' && !isUUID(value)) return broken(findings, path, 'format', 'must be a UUID');
    if (rules.format === 'byte' && !isBase64(value)) return broken(findings, path, 'format', 'must be base64');
    if (rules.format === 'date-time' && !isTimestamp(value))
      return broken(findings, path, 'format', 'must be an RFC 3339 time');
    return value;
  };
}

export function numberReader(rules: NumberRules): Reader {
  const kind = rules.isInteger ? 'an integer' : 'a number';
  return (given, path, findings, isText) => {
    const value = isText && typeof given === 'string' ? numberFromText(given) : given;
    if (typeof value !== 'number' || !Number.isFinite(value)) return mistyped(findings, path, kind);
    if (rules.isInteger && !Number.isSafeInteger(value)) return mistyped(findings, path, kind);
    if (value < (rules.min ?? -Infinity)) return broken(findings, path, 'min', `must be at least ${rules.min}`);
    if (value > (rules.max ?? Infinity)) return broken(findings, path, 'max', `must be at most ${rules.max}`);
    if (value <= (rules.exclusiveMin ?? -Infinity))
      return broken(findings, path, 'min', `must be more than ${rules.exclusiveMin}`);
    return value;
  };
}

function numberFromText(text: string): number {
  return /^-?\d{1,17}(\.\d{1,17})?$/.test(text) ? Number(text) : NaN;
}

export const booleanReader: Reader = (given, path, findings, isText) => {
  if (isText && given === 'true') return true;
  if (isText && given === 'false') return false;
  return typeof given === 'boolean' ? given : mistyped(findings, path, 'true or false');
};

export const timestampReader: Reader = (value, path, findings) => {
  if (typeof value !== 'string') return mistyped(findings, path, 'an RFC 3339 time');
  return isTimestamp(value) ? value : broken(findings, path, 'format', 'must be an RFC 3339 time with an offset');
};

/** Whether a text is an RFC 3339 time that exists: `Date` alone would turn 30 February into 2 March. */
export function isTimestamp(text: string): boolean {
  if (!RFC3339.test(text) || Number.isNaN(Date.parse(text))) return false;
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  return year > 0 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

export function objectReader(type: () => Function): Reader {
  return (value, path, findings) => {
    if (!isPlainObject(value)) return mistyped(findings, path, 'an object');
    return readObject(type(), value, path, findings);
  };
}

export function arrayReader(of: (() => Function) | ItemKind, rules: ArrayRules): Reader {
  const readItem = itemReader(of, rules);
  return (given, path, findings, isText) => {
    const value = isText && typeof given === 'string' ? [given] : given;
    if (!Array.isArray(value)) return mistyped(findings, path, 'an array');
    if (value.length < (rules.minItems ?? 0))
      return broken(findings, path, 'min_items', `must have at least ${rules.minItems} items`);
    if (value.length > (rules.maxItems ?? Infinity))
      return broken(findings, path, 'max_items', `must have at most ${rules.maxItems} items`);
    if (rules.unique && new Set(value).size !== value.length)
      return broken(findings, path, 'unique', 'must not repeat an item');
    return value.map((item, index) => readItem(item, `${path}[${index}]`, findings, isText));
  };
}

function itemReader(of: (() => Function) | ItemKind, rules: ArrayRules): Reader {
  if (typeof of === 'function') return objectReader(of);
  if (of === 'string') return stringReader(rules.item ?? {});
  return numberReader({ min: rules.itemMin, max: rules.itemMax, isInteger: of === 'integer' });
}

export function mapReader(rules: MapRules): Reader {
  const readValue =
    rules.values === 'json'
      ? jsonReader(true)
      : rules.values === 'string'
        ? stringReader({ max: rules.maxValueLength })
        : rules.values === 'number'
          ? numberReader({})
          : booleanReader;
  const readKey = stringReader({ min: 1, max: rules.maxKeyLength, pattern: rules.keyPattern });
  return (value, path, findings) => {
    if (!isPlainObject(value)) return mistyped(findings, path, 'an object');
    const entries = Object.entries(value);
    if (entries.length > (rules.maxEntries ?? Infinity)) {
      return broken(findings, path, 'max_entries', `must have at most ${rules.maxEntries} entries`);
    }
    const map: Record<string, unknown> = {};
    for (const [key, item] of entries) {
      const at = `${path}.${key}`;
      if (readKey(key, at, findings, false) === undefined) continue;
      map[key] = readValue(item, at, findings, false);
    }
    return map;
  };
}

export function jsonReader(isAny: boolean): Reader {
  return (value, path, findings) => {
    if (!isAny && !isPlainObject(value)) return mistyped(findings, path, 'an object');
    return isStorableJson(value) ? value : broken(findings, path, 'characters', 'must not hold NUL or lone surrogates');
  };
}

/** The depth of a request body is bounded before it comes here, so recursion is safe. */
function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isStorableJson);
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorableJson(item));
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
