import type { ValidationError, ValidationOptions } from 'class-validator';
import type { Findings, Shape } from './field-table.js';

/** What class-validator hands back with a broken constraint. */
interface FaultContext {
  /** Stable, part of the contract. */
  code: string;
  kind: 'mistyped' | 'broken';
}

/** The value has another type than the field: 400. */
export function mistyped(expected: string): ValidationOptions {
  return { message: `must be ${expected}`, context: { code: 'type', kind: 'mistyped' } satisfies FaultContext };
}

/** The type is right and a rule is broken: 422. */
export function broken(code: string, message: ValidationOptions['message']): ValidationOptions {
  return { message, context: { code, kind: 'broken' } satisfies FaultContext };
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
  if (!context) throw new Error(`${path} was refused by a constraint of nobody's: ${name}`);
  findings[context.kind].push({ field: path, code: context.code, message: `${path} ${rule}` });
  return undefined;
}

export function join(path: string, name: string): string {
  if (path === '') return name;
  return name.startsWith('[') ? path + name : `${path}.${name}`;
}
