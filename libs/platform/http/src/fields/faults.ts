import { useContainer, validateSync, type ValidationError, type ValidationOptions } from 'class-validator';
import type { Findings, Shape } from './field-table.js';

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
  if (!context) throw new Error(`${path} was refused by a constraint without a code: ${name}`);
  if (context.kind === 'item') return shape.closeItems!(value, path, findings);
  findings[context.kind].push({ field: path, code: context.code, message: `${path} ${rule}` });
  return undefined;
}

export function join(path: string, name: string): string {
  if (path === '') return name;
  return name.startsWith('[') ? path + name : `${path}.${name}`;
}
