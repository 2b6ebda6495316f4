import { useContainer, validateSync, type ValidationError, type ValidationOptions } from 'class-validator';
import { currentRequest, type Warning } from '../context/request-context.js';
import { errors } from '../errors/platform.errors.js';
import type { FieldIssue } from '../errors/slipway-error.js';
import { nearest } from './near-miss.js';

/**
 * The steps from a plain value to one that class-validator can validate (`open`), and from there to the one in the DTO
 * (`close`).
 */
export interface Shape {
  /** Leaves a value of a wrong type unchanged, so that class-validator refuses it. */
  open?(given: unknown, isText: boolean): unknown;
  /** @param inside errors that class-validator found in the members of the value */
  close?(value: unknown, inside: ValidationError[], path: string, findings: Findings): unknown;
  /** Only for lists: validates item by item, after class-validator has refused at least one of them. */
  closeItems?(items: unknown, path: string, findings: Findings): unknown[];
  /** Returns the DTO class of a nested object. */
  members?(): Function;
}

/** Everything needed to read a field of a DTO class, except its rules, which class-validator holds. */
export interface Field {
  name: string;
  /** The field may be left out, and `null` counts as absent. */
  isNullable: boolean;
  /** `null` stays, because it has a meaning in a merge patch. */
  isRemovable: boolean;
  defaultValue: unknown;
  check?: (value: unknown) => string | undefined;
  shape: Shape;
}

/** A field that the DTO class does not have. */
export interface UnknownField {
  /** Dotted path. */
  field: string;
  name: string;
  /** Path of the field that it was probably meant to be. */
  meant?: string;
}

/** The problems found so far while reading a value. */
export interface Findings {
  /** Wrong type: 400. */
  mistyped: FieldIssue[];
  /** Right type, but missing or refused by a rule: 422. */
  broken: FieldIssue[];
  /** Fields that the DTO class does not have: a warning in the answer. */
  unknown: UnknownField[];
}

/** A DTO class may check several fields together. The check runs only if each field by itself is valid. */
export interface CheckedDto {
  check?(dto: object): FieldIssue[];
}

const ownFields = new WeakMap<Function, Map<string, Field>>();
const resolvedFields = new WeakMap<Function, Map<string, Field>>();

export function addField(type: Function, field: Field): void {
  const fields = ownFields.get(type) ?? new Map<string, Field>();
  fields.set(field.name, field);
  ownFields.set(type, fields);
}

/** Returns the fields of a DTO class, with those of its parents. Computed once per class. */
export function fieldsOf(type: Function): Map<string, Field> {
  const known = resolvedFields.get(type);
  if (known) return known;
  const parent = Object.getPrototypeOf(type) as Function | null;
  const inherited = parent && parent !== Function.prototype ? fieldsOf(parent) : new Map<string, Field>();
  const own = ownFields.get(type) ?? new Map<string, Field>();
  // class-validator would mix the rules of both, so a field that the child requires could be left out.
  for (const name of own.keys())
    if (inherited.has(name)) throw new Error(`${type.name} and its parent both define the field ${name}`);
  const fields = new Map([...inherited, ...own]);
  resolvedFields.set(type, fields);
  return fields;
}

export function newFindings(): Findings {
  return { mistyped: [], broken: [], unknown: [] };
}

/** The context that our decorators pass to class-validator, which returns it with a broken constraint. */
interface FaultContext {
  /** Stable, because it is part of the contract. */
  code: string;
  /** `item`: a rule refused at least one item of a list. class-validator does not report which. */
  kind: 'mistyped' | 'broken' | 'item';
}

/**
 * Options for a rule that the value has another type than the field: 400.
 * @param isEach whether the rule applies to each item of a list
 */
export function mistyped(expected: string, isEach = false): ValidationOptions {
  return ruleOptions({ code: 'type', kind: 'mistyped' }, `must be ${expected}`, isEach);
}

/** Options for a rule about a value of the right type: 422. */
export function broken(code: string, message: ValidationOptions['message'], isEach = false): ValidationOptions {
  return ruleOptions({ code, kind: 'broken' }, message, isEach);
}

function ruleOptions(context: FaultContext, message: ValidationOptions['message'], isEach: boolean): ValidationOptions {
  return { message, each: isEach, context: isEach ? { ...context, kind: 'item' } : context };
}

/** Returns the errors that class-validator finds in an instance of a class with rules. No rule here is asynchronous. */
export function faultsIn(instance: object): ValidationError[] {
  return validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    stopAtFirstError: true,
    // So that an error does not keep the values of the request in memory.
    validationError: { target: false, value: false },
  });
}

// class-validator's own container searches a list of all constraints for each rule that it checks.
const constraints = new Map<Function, unknown>();
useContainer({
  get(type) {
    if (!constraints.has(type)) constraints.set(type, Reflect.construct(type as Function, []));
    return constraints.get(type) as never;
  },
});

/** Returns a function that validates one value by rules, outside of its list. */
export function judgeBy(rules: PropertyDecorator[]): (value: unknown) => ValidationError | undefined {
  class Single {
    constructor(readonly value: unknown) {}
  }
  for (const rule of rules) rule(Single.prototype, 'value');
  return (value) => faultsIn(new Single(value))[0];
}

const NONE = new Map<string, ValidationError>();

export function byProperty(errors: ValidationError[]): Map<string, ValidationError> {
  return errors.length === 0 ? NONE : new Map(errors.map((error) => [error.property, error]));
}

/**
 * Returns the value of a field, an item or an entry. If the value itself is invalid, adds it to the findings and
 * returns undefined.
 */
export function settle(
  shape: Shape,
  value: unknown,
  error: ValidationError | undefined,
  path: string,
  findings: Findings,
): unknown {
  if (!error?.constraints) return shape.close ? shape.close(value, error?.children ?? [], path, findings) : value;
  // class-validator stops at the first broken constraint of a property.
  const [name, rule] = Object.entries(error.constraints)[0]!;
  const context = error.contexts?.[name] as FaultContext | undefined;
  if (!context) throw new Error(`${path} was rejected by a constraint without a code: ${name}`);
  if (context.kind === 'item') return shape.closeItems!(value, path, findings);
  findings[context.kind].push({ field: path, code: context.code, message: `${path} ${rule}` });
  return undefined;
}

export function join(path: string, name: string): string {
  if (path === '') return name;
  return name.startsWith('[') ? path + name : `${path}.${name}`;
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const UNSTORABLE = /[\0\p{Cs}]/u;

/** Whether Postgres can store a text: it has no NUL and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Recursion is safe, because the depth of a request body is already bounded. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isStorableJson);
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorableJson(item));
}

/**
 * Postgres prints all digits of a number in `jsonb`: `1e308` takes 12 bytes there, and 309 when it is read. Pages and
 * rows would be many times as large as what is stored.
 */
const SHORT_NUMBERS = { least: 1e-30, most: 1e30 };

/** Whether all numbers in a JSON value have few digits. Recursion is safe, because the depth is bounded. */
export function hasShortNumbers(value: unknown): boolean {
  if (typeof value === 'number') {
    const size = Math.abs(value);
    return value === 0 || (size >= SHORT_NUMBERS.least && size <= SHORT_NUMBERS.most);
  }
  if (typeof value !== 'object' || value === null) return true;
  return (Array.isArray(value) ? value : Object.values(value)).every(hasShortNumbers);
}

/**
 * Free JSON is compared, digested, stored and printed, each of which costs far more for a value than parsing it. With
 * more values than this, a request would occupy the event loop for longer than others should wait.
 */
export const MOST_JSON_VALUES = 10_000;

/** Whether a JSON value contains at most so many texts, numbers, arrays and objects. */
export function hasFewValues(value: unknown): boolean {
  let left = MOST_JSON_VALUES;
  const isWithin = (one: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    if (typeof one !== 'object' || one === null) return true;
    return (Array.isArray(one) ? one : Object.values(one)).every(isWithin);
  };
  return isWithin(value);
}

/** Whether a text is an RFC 3339 time that exists. `Date` alone would change 30 February to 2 March. */
export function isTimestamp(text: string): boolean {
  if (!RFC3339.test(text) || Number.isNaN(Date.parse(text))) return false;
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  return year > 0 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

const [FIRST_MS, LAST_MS] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'].map(Date.parse) as [
  number,
  number,
];

/**
 * Returns a timestamp in UTC and in years of four digits, so that Postgres can read it: it reads no offset of 16 hours or
 * more, and RFC 3339 has such.
 */
export function inUtc(timestamp: string): string {
  return new Date(Math.min(LAST_MS, Math.max(FIRST_MS, Date.parse(timestamp)))).toISOString();
}

/** Counts characters as Unicode and JSON Schema do. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The maximum number of unknown fields that an answer names. */
export const MAX_UNKNOWN = 50;

/** No DTO of a request is nested deeper. Without this limit, a DTO that contains itself would never end. */
const MAX_DEPTH = 6;
const pathsByType = new WeakMap<Function, Map<string, string | undefined>>();

/** @param known names in the same object */
export function unknownField(name: string, path: string, known: Iterable<string>): UnknownField {
  const near = nearest(name, known);
  return { field: join(path, name), name, meant: near && join(path, near) };
}

/**
 * Searches the whole object for the fields that unknown ones were probably meant to be, if their own level has no near
 * name. Adds a hint to the messages of missing required fields.
 * @param from index of the first entry of `findings.unknown` that belongs to this object
 */
export function explainUnknown(type: Function, path: string, findings: Findings, from: number): void {
  const here = findings.unknown.slice(from, MAX_UNKNOWN);
  if (here.length === 0) return;
  for (const one of here) {
    const known = one.meant === undefined ? pathsOf(type).get(one.name) : undefined;
    if (known !== undefined) one.meant = join(path, known);
  }
  const byField = new Map(here.map((one) => [one.meant, one.field]));
  for (const issue of findings.broken) {
    const sent = issue.code === 'required' ? byField.get(issue.field) : undefined;
    if (sent !== undefined) issue.message += `; did you misspell it as \`${sent}\`?`;
  }
}

/**
 * Adds unknown fields to the warnings of the answer, or refuses them if the request is strict. Does nothing outside of a
 * request.
 * @throws validation_failed (422) with each unknown field
 */
export function reportUnknown(unknown: readonly UnknownField[]): void {
  const context = currentRequest();
  if (!context || unknown.length === 0) return;
  if (context.isStrict) throw errors.validation_failed({ details: unknownIssues(unknown) });
  for (const one of [...unknown].sort((a, b) => (a.field < b.field ? -1 : 1))) {
    if (context.warnings.length >= MAX_UNKNOWN) return;
    context.warnings.push(warningOf(one));
  }
}

/**
 * Returns issues for unknown fields. A refusal needs them, because its answer has no warnings. If the request is not
 * strict, only those with a likely meaning are listed, because the others are no error.
 */
export function unknownIssues(unknown: readonly UnknownField[]): FieldIssue[] {
  const isStrict = currentRequest()?.isStrict === true;
  const listed = unknown.filter((one) => isStrict || one.meant !== undefined);
  return listed
    .slice(0, MAX_UNKNOWN)
    .map((one) => ({
      field: one.field,
      code: 'unknown_field',
      message: [`${one.field} is not a known field`, ...(one.meant === undefined ? [] : [hintOf(one)])].join('; '),
    }));
}

/** Returns the fields of a body that no handler reads: they are all unknown. */
export function unreadFields(body: unknown): UnknownField[] {
  return isPlainObject(body) ? Object.keys(body).map((name) => unknownField(name, '', [])) : [];
}

/**
 * Adds the unknown fields of a merge patch whose value is `null`. The merged object does not show them, because they
 * remove nothing.
 * @param path dotted path of the patch
 */
export function addUnknownRemovals(
  type: Function,
  patch: Record<string, unknown>,
  path: string,
  findings: Findings,
): void {
  const { unknown } = findings;
  const fields = fieldsOf(type);
  for (const [name, value] of Object.entries(patch)) {
    // A field that no answer will name needs no hint.
    if (unknown.length >= MAX_UNKNOWN) return;
    const field = fields.get(name);
    const members = field?.shape.members?.();
    if (!field && value === null) unknown.push(unknownField(name, path, fields.keys()));
    else if (members && isPlainObject(value)) addUnknownRemovals(members, value, join(path, name), findings);
  }
}

function warningOf(one: UnknownField): Warning {
  return { code: 'unknown_field', field: one.field, ...(one.meant !== undefined && { message: hintOf(one) }) };
}

function hintOf({ meant }: UnknownField): string {
  return `did you mean \`${meant}\`?`;
}

/** Returns the path of each name in a DTO, or undefined for a name with several paths. Items of lists have no path. */
function pathsOf(type: Function): Map<string, string | undefined> {
  const known = pathsByType.get(type);
  if (known) return known;
  const paths = new Map<string, string | undefined>();
  const visit = (inside: Function, path: string, depth: number): void => {
    for (const { name, shape } of fieldsOf(inside).values()) {
      const field = join(path, name);
      paths.set(name, paths.has(name) ? undefined : field);
      if (shape.members && depth < MAX_DEPTH) visit(shape.members(), field, depth + 1);
    }
  };
  visit(type, '', 1);
  pathsByType.set(type, paths);
  return paths;
}

/** Prefix of unknown names: class-validator treats `toString` as known, and would take its rules from `constructor`. */
const UNKNOWN = '?';

/**
 * Reads an object into a new instance of a DTO class. Invalid values are added to `findings` and left out.
 * @param path dotted path of the object itself, empty for the body
 * @param isText whether scalars arrive as text (query parameters)
 */
export function readObject(type: Function, value: object, path: string, findings: Findings, isText = false): object {
  const dto = openObject(type, value, isText);
  const from = findings.unknown.length;
  closeObject(type, dto, faultsIn(dto), path, findings);
  explainUnknown(type, path, findings, from);
  return dto;
}

/** Returns an instance of the DTO class with the given values, including nested DTOs. */
export function openObject(type: Function, given: object, isText = false): object {
  const fields = fieldsOf(type);
  const source = given as Record<string, unknown>;
  const dto = Reflect.construct(type, []) as Record<string, unknown>;
  for (const { name, shape, isNullable, defaultValue } of fields.values()) {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    if (value === undefined || (value === null && isNullable)) {
      // Only reserves the position: defaults are our own values, so class-validator does not check them.
      if (defaultValue !== undefined) dto[name] = undefined;
    } else dto[name] = shape.open ? shape.open(value, isText) : value;
  }
  if (!isText) for (const key of unknownKeys(source, fields)) dto[UNKNOWN + key] = undefined;
  return dto;
}

/**
 * Returns the unknown keys that an answer would name. Drops the others unread, so that a client cannot cause thousands
 * of errors.
 */
function unknownKeys(source: object, fields: Map<string, Field>): string[] {
  const keys = Object.keys(source).filter((key) => !fields.has(key));
  return keys.length > MAX_UNKNOWN ? keys.sort().slice(0, MAX_UNKNOWN) : keys;
}

/** Sorts the errors of class-validator in a DTO, and keeps only valid values in it. */
export function closeObject(
  type: Function,
  object: object,
  errors: ValidationError[],
  path: string,
  findings: Findings,
): void {
  const fields = fieldsOf(type);
  const dto = object as Record<string, unknown>;
  const faults = byProperty(errors);
  const before = findings.mistyped.length + findings.broken.length;
  for (const field of fields.values()) closeField(field, dto, faults.get(field.name), path, findings);
  for (const { property, constraints } of errors) {
    if (fields.has(property)) continue;
    if (!constraints?.['whitelistValidation']) throw new Error(`${type.name} cannot be validated`);
    // A field that no answer will name needs no hint.
    const known = findings.unknown.length < MAX_UNKNOWN ? fields.keys() : [];
    findings.unknown.push(unknownField(property.slice(UNKNOWN.length), path, known));
    delete dto[property];
  }
  const checkTogether = (type as CheckedDto).check;
  if (checkTogether && findings.mistyped.length + findings.broken.length === before) {
    for (const issue of checkTogether.call(type, dto))
      findings.broken.push({ ...issue, field: join(path, issue.field) });
  }
}

function closeField(
  { name, isRemovable, shape, defaultValue, check }: Field,
  dto: Record<string, unknown>,
  error: ValidationError | undefined,
  path: string,
  findings: Findings,
): void {
  const given = dto[name];
  if (given === undefined && !error) {
    if (defaultValue !== undefined) dto[name] = structuredClone(defaultValue);
    return;
  }
  if (given === null && isRemovable) return;
  const at = join(path, name);
  const value = settle(shape, given, error, at, findings);
  const complaint = value === undefined ? undefined : check?.(value);
  if (complaint !== undefined) findings.broken.push({ field: at, code: 'invalid', message: complaint });
  if (value === undefined || complaint !== undefined) delete dto[name];
  else dto[name] = value;
}
