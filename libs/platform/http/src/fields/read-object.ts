import { useContainer, validateSync, type ValidationError, type ValidationOptions } from 'class-validator';
import { currentRequest, type Warning } from '../context/request-context.js';
import type { FieldIssue } from '../errors/slipway-error.js';
import { nearest } from './near-miss.js';

/** How a plain value becomes one that class-validator can judge, and that one what the DTO holds. */
export interface Shape {
  /** Leaves what has a wrong type as it is, for class-validator to refuse. */
  open?(given: unknown, isText: boolean): unknown;
  /** @param inside what class-validator found in the value's own members */
  close?(value: unknown, inside: ValidationError[], path: string, findings: Findings): unknown;
  /** Of a list: judges item by item, after class-validator has refused at least one of them. */
  closeItems?(items: unknown, path: string, findings: Findings): unknown[];
  /** The DTO class of a nested object. */
  members?(): Function;
}

/** What we have to know of a field of a DTO class; its rules are with class-validator. */
export interface Field {
  name: string;
  /** `null` counts as absent. */
  isNullable: boolean;
  /** `null` stays, because in a merge patch it says something. */
  isRemovable: boolean;
  defaultValue: unknown;
  check?: (value: unknown) => string | undefined;
  shape: Shape;
}

/** A field nobody knows. */
export interface UnknownField {
  /** Dotted path. */
  field: string;
  name: string;
  /** Path of the field that it was probably meant to be. */
  meant?: string;
}

/** What reading a value has found so far. */
export interface Findings {
  /** Wrong type: 400. */
  mistyped: FieldIssue[];
  /** Right type, refused by a rule or missing: 422. */
  broken: FieldIssue[];
  /** Fields nobody knows: a warning in the answer. */
  unknown: UnknownField[];
}

/** A DTO class may check several fields together; called only if every field by itself is sound. */
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

/** The fields of a DTO class, those of its parents included; computed once per class. */
export function fieldsOf(type: Function): Map<string, Field> {
  const known = resolvedFields.get(type);
  if (known) return known;
  const parent = Object.getPrototypeOf(type) as Function | null;
  const inherited = parent && parent !== Function.prototype ? fieldsOf(parent) : new Map<string, Field>();
  const own = ownFields.get(type) ?? new Map<string, Field>();
  // class-validator would mix the rules of both, so that what the child requires could be left out.
  for (const name of own.keys())
    if (inherited.has(name)) throw new Error(`${type.name} and its parent both define the field ${name}`);
  const fields = new Map([...inherited, ...own]);
  resolvedFields.set(type, fields);
  return fields;
}

export function newFindings(): Findings {
  return { mistyped: [], broken: [], unknown: [] };
}

/** The context that our decorators give class-validator, which returns it with a broken constraint. */
interface FaultContext {
  /** Stable, part of the contract. */
  code: string;
  /** `item`: a rule of the items of a list refused at least one of them; class-validator does not report which. */
  kind: 'mistyped' | 'broken' | 'item';
}

/**
 * The value has another type than the field: 400.
 * @param isEach whether the rule applies to each item of a list
 */
export function mistyped(expected: string, isEach = false): ValidationOptions {
  return ruleOptions({ code: 'type', kind: 'mistyped' }, `must be ${expected}`, isEach);
}

/** The type is right and a rule is broken: 422. */
export function broken(code: string, message: ValidationOptions['message'], isEach = false): ValidationOptions {
  return ruleOptions({ code, kind: 'broken' }, message, isEach);
}

function ruleOptions(context: FaultContext, message: ValidationOptions['message'], isEach: boolean): ValidationOptions {
  return { message, each: isEach, context: isEach ? { ...context, kind: 'item' } : context };
}

/** What class-validator finds in an instance of a class with rules. No rule here is asynchronous. */
export function faultsIn(instance: object): ValidationError[] {
  return validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    stopAtFirstError: true,
    // A fault does not keep the request's values alive.
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

/** Returns a function that judges one value by rules, outside of its list. */
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

/** The value of a field, an item or an entry; undefined if it is at fault itself, which is then noted. */
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

/** Whether Postgres can keep a text: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** The depth of a request body is bounded before it comes here, so recursion is safe. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isStorableJson);
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorableJson(item));
}

/** Whether a text is an RFC 3339 time that exists: `Date` alone would turn 30 February into 2 March. */
export function isTimestamp(text: string): boolean {
  if (!RFC3339.test(text) || Number.isNaN(Date.parse(text))) return false;
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  return year > 0 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Characters as Unicode and JSON Schema count them. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As many unknown fields as an answer names. */
export const MAX_UNKNOWN = 50;

/** No DTO of a request is nested deeper; one that holds itself would be endless. */
const MAX_DEPTH = 6;
const pathsByType = new WeakMap<Function, Map<string, string | undefined>>();

/** @param known names of the same object */
export function unknownField(name: string, path: string, known: Iterable<string>): UnknownField {
  const near = nearest(name, known);
  return { field: join(path, name), name, meant: near && join(path, near) };
}

/**
 * Looks in the whole object for what unknown fields may have been meant to be, where their own level has nothing like it, and tells those
 * that miss a required field.
 * @param from the first of `findings.unknown` that belongs to this object
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

/** Puts them into the answer's warnings. Nothing outside of a request. */
export function warnUnknown(unknown: readonly UnknownField[]): void {
  const context = currentRequest();
  if (!context) return;
  for (const one of [...unknown].sort((a, b) => (a.field < b.field ? -1 : 1))) {
    if (context.warnings.length >= MAX_UNKNOWN) return;
    context.warnings.push(warningOf(one));
  }
}

/** Those that have a likely meaning, for a refusal, whose answer has no warnings. */
export function unknownIssues(unknown: readonly UnknownField[]): FieldIssue[] {
  const meant = unknown.filter((one) => one.meant !== undefined).slice(0, MAX_UNKNOWN);
  return meant.map((one) => ({
    field: one.field,
    code: 'unknown_field',
    message: `${one.field} is not a known field; ${hintOf(one)}`,
  }));
}

function warningOf(one: UnknownField): Warning {
  return { code: 'unknown_field', field: one.field, ...(one.meant !== undefined && { message: hintOf(one) }) };
}

function hintOf({ meant }: UnknownField): string {
  return `did you mean \`${meant}\`?`;
}

/** The paths of names in a DTO; undefined for a name that has several. Items of lists have no path of their own. */
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

/** Before unknown names: class-validator holds `toString` for known, and would take its rules from `constructor`. */
const UNKNOWN = '?';

/**
 * Reads an object into a new instance of a DTO class. Values that do not fit are noted in `findings` and left out.
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

/** An instance of the DTO class with the values that were given, as deep as DTO classes go. */
export function openObject(type: Function, given: object, isText = false): object {
  const fields = fieldsOf(type);
  const source = given as Record<string, unknown>;
  const dto = Reflect.construct(type, []) as Record<string, unknown>;
  for (const { name, shape, isNullable, defaultValue } of fields.values()) {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    if (value === undefined || (value === null && isNullable)) {
      // Only holds the place: defaults are ours, and class-validator is not asked about them.
      if (defaultValue !== undefined) dto[name] = undefined;
    } else dto[name] = shape.open ? shape.open(value, isText) : value;
  }
  if (!isText) for (const key of unknownKeys(source, fields)) dto[UNKNOWN + key] = undefined;
  return dto;
}

/** Those that an answer would name; the rest is dropped unseen, so that nobody can have faults made by the thousand. */
function unknownKeys(source: object, fields: Map<string, Field>): string[] {
  const keys = Object.keys(source).filter((key) => !fields.has(key));
  return keys.length > MAX_UNKNOWN ? keys.sort().slice(0, MAX_UNKNOWN) : keys;
}

/** Sorts out what class-validator found in a DTO and leaves in it what belongs there. */
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
    // What no answer will name needs no hint.
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
