import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { errors } from '../errors/platform.errors.js';
import { fieldsOf, newFindings, type Findings } from '../fields/field-table.js';
import { readObject } from '../fields/read-object.js';
import { unknownIssues, warnUnknown } from '../fields/unknown-fields.js';
import { isPlainObject, isStorable } from '../fields/values.js';

const UNTYPED = new Set<unknown>([undefined, Object, String, Number, Boolean, Array]);

/** Reads bodies and queries into their DTOs. `@Route` puts it on the parameters of its handler. */
export class RequestReader implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'body') return this.readBody(value, metatype);
    if (type !== 'query') return value;
    return data === undefined ? this.readQuery(value, metatype) : readQueryValue(value, data);
  }

  private readBody(value: unknown, metatype: Function | undefined): unknown {
    if (isStream(value)) return value;
    const body = value ?? {};
    if (!isPlainObject(body)) throw errors.invalid_parameter({ message: 'The request body must be a JSON object.' });
    if (metatype === undefined || UNTYPED.has(metatype) || fieldsOf(metatype).size === 0) return body;
    const findings = newFindings();
    const dto = readObject(metatype, body, '', findings);
    warnUnknown(findings.unknown);
    refuse(findings);
    return dto;
  }

  private readQuery(value: unknown, metatype: Function | undefined): unknown {
    if (metatype === undefined || UNTYPED.has(metatype)) return value;
    const findings = newFindings();
    const dto = readObject(metatype, (value ?? {}) as object, '', findings, true);
    refuse(findings);
    return dto;
  }
}

function readQueryValue(value: unknown, field: string): unknown {
  if (value === undefined || (typeof value === 'string' && isStorable(value))) return value;
  const message = Array.isArray(value) ? `${field} must be given once` : `${field} must be a text without NUL`;
  throw errors.invalid_parameter({ message, details: [{ field, code: 'type', message }] });
}

function isStream(value: unknown): boolean {
  return typeof (value as { pipe?: unknown } | null | undefined)?.pipe === 'function';
}

function refuse(findings: Findings): void {
  const { mistyped, broken } = findings;
  const hints = unknownIssues(findings.unknown);
  if (mistyped.length > 0) throw errors.invalid_parameter({ details: [...mistyped, ...hints] });
  if (broken.length > 0) throw errors.validation_failed({ details: [...broken, ...hints] });
}

/** Path parameters reach SQL as they are, so what no text column can hold is refused here. */
export function refuseUnstorable(params: Record<string, string> | undefined): void {
  for (const name in params) if (!isStorable(params[name]!)) throw errors.path_invalid();
}
