import type { ValidationError } from 'class-validator';
import type { FieldIssue } from '../errors/slipway-error.js';

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
  for (const name of own.keys()) if (inherited.has(name)) throw new Error(`A parent of ${type.name} has ${name} too`);
  const fields = new Map([...inherited, ...own]);
  resolvedFields.set(type, fields);
  return fields;
}

export function newFindings(): Findings {
  return { mistyped: [], broken: [], unknown: [] };
}
