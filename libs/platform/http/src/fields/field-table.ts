import type { FieldIssue } from '../errors/slipway-error.js';

/** Turns a JSON value into the field's value, or notes why not and returns undefined. */
export type Reader = (value: unknown, path: string, findings: Findings, isText: boolean) => unknown;

/** One field of a DTO class, as the reader of requests sees it. */
export interface Field {
  name: string;
  isRequired: boolean;
  isNullable: boolean;
  defaultValue: unknown;
  check?: (value: unknown) => string | undefined;
  reader: Reader;
}

/** What reading a value has found so far. */
export interface Findings {
  /** Wrong type: 400. */
  mistyped: FieldIssue[];
  /** Right type, refused by a rule or missing: 422. */
  broken: FieldIssue[];
  /** Fields nobody knows: a warning in the answer. */
  unknown: string[];
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
  const fields = new Map([...inherited, ...(ownFields.get(type) ?? [])]);
  resolvedFields.set(type, fields);
  return fields;
}

export function newFindings(): Findings {
  return { mistyped: [], broken: [], unknown: [] };
}
