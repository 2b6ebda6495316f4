import type { ValidationError } from 'class-validator';
import { byProperty, faultsIn, join, settle } from './faults.js';
import { fieldsOf, type CheckedDto, type Field, type Findings } from './field-table.js';
import { explainUnknown, MAX_UNKNOWN, unknownField } from './unknown-fields.js';

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
