import { fieldsOf, type CheckedDto, type Field, type Findings } from './field-table.js';

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

function join(path: string, name: string): string {
  if (path === '') return name;
  return name.startsWith('[') ? path + name : `${path}.${name}`;
}
