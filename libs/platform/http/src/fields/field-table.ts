import type { FieldIssue } from '../errors/slipway-error.js';
import type { Reader } from './field-readers.js';

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

/** A DTO class may check several fields together; called only where every field by itself is sound. */
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

/**
 * Reads an object into a new instance of a DTO class. Values that do not fit are noted in `findings` and left out.
 * @param path dotted path of the object itself, empty for the body
 * @param isText whether scalars arrive as text (query parameters)
 */
export function readObject(type: Function, value: object, path: string, findings: Findings, isText = false): object {
  const fields = fieldsOf(type);
  const source = value as Record<string, unknown>;
  const dto = Reflect.construct(type, []) as Record<string, unknown>;
  const before = findings.mistyped.length + findings.broken.length;
  for (const field of fields.values()) readField(field, source, dto, path, findings, isText);
  if (!isText) {
    for (const key of Object.keys(source)) if (!fields.has(key)) findings.unknown.push(join(path, key));
  }
  const checkTogether = (type as CheckedDto).check;
  if (checkTogether && findings.mistyped.length + findings.broken.length === before) {
    for (const issue of checkTogether.call(type, dto))
      findings.broken.push({ ...issue, field: join(path, issue.field) });
  }
  return dto;
}

function readField(
  field: Field,
  source: Record<string, unknown>,
  dto: Record<string, unknown>,
  path: string,
  findings: Findings,
  isText: boolean,
): void {
  const given = Object.hasOwn(source, field.name) ? source[field.name] : undefined;
  const at = join(path, field.name);
  if (given === undefined || (given === null && field.isNullable)) {
    if (field.defaultValue !== undefined) dto[field.name] = structuredClone(field.defaultValue);
    else if (field.isRequired) findings.broken.push({ field: at, code: 'required', message: `${at} is required` });
    return;
  }
  const read = field.reader(given, at, findings, isText);
  if (read === undefined) return;
  const complaint = field.check?.(read);
  if (complaint !== undefined) {
    findings.broken.push({ field: at, code: 'invalid', message: complaint });
    return;
  }
  dto[field.name] = read;
}

export function join(path: string, name: string): string {
  if (path === '') return name;
  return name.startsWith('[') ? path + name : `${path}.${name}`;
}
