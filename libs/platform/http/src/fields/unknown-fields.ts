import { currentRequest, type Warning } from '../context/request-context.js';
import type { FieldIssue } from '../errors/slipway-error.js';
import { join } from './faults.js';
import { fieldsOf, type Findings, type UnknownField } from './field-table.js';
import { nearest } from './near-miss.js';

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
    if (sent !== undefined) issue.message += `: did you mean it by \`${sent}\`?`;
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
    message: `${one.field} is not known here: ${hintOf(one)}`,
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
