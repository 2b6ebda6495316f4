import type { IdentityProof } from '@slipway/contracts';
import type { InstanceSpec } from '../driver.js';
import { isMisspelling } from '@slipway/platform-config';

export const MODEL_FIELDS = ['id', 'uri', 'revision', 'format', 'quantization'] as const;

const PLACEHOLDER = /\{([a-z][a-z_.]*)\}/g;

/** What placeholders stand for; none for what has no value. */
export type PlaceholderValues = ReadonlyMap<string, string>;

/** The names in `{…}`; what stands in the braces of JSON is none. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!);
}

/** Undefined when a placeholder has no value. Values are taken literally: no placeholder in one is filled. */
export function fillPlaceholders(text: string, values: PlaceholderValues): string | undefined {
  if (placeholdersIn(text).some((name) => !values.has(name))) return undefined;
  return text.replace(PLACEHOLDER, (_all, name: string) => values.get(name)!);
}

/** The fields of the model that a spec has, as `model.uri`. */
export function modelValues({ model }: Pick<InstanceSpec, 'model'>): [name: string, value: string][] {
  return MODEL_FIELDS.flatMap((field): [string, string][] => {
    const value = model[field];
    return value === undefined || value === '' ? [] : [[`model.${field}`, value]];
  });
}

/** The proofs that can be asked for, filled in: one that speaks of what a spec leaves open proves nothing. */
export function provableIdentity(identity: readonly IdentityProof[], values: PlaceholderValues): IdentityProof[] {
  return identity.flatMap((proof): IdentityProof[] => {
    if (typeof proof === 'string') return [proof];
    const equals = fillPlaceholders(proof.equals, values);
    return equals === undefined ? [] : [{ ...proof, equals }];
  });
}

/** Also those that are spelled wrong; not what stands in the braces of JSON. */
const MEANT_AS_PLACEHOLDER = /\{(\s*[A-Za-z][\w.-]*\s*)\}/g;

/** The elements of a command line; those that are a list are left out together when one of them has no value. */
export function fillCommand(command: readonly (string | string[])[], values: PlaceholderValues): string[] {
  return command.flatMap((element) => {
    const parts = [element].flat().map((part) => fillPlaceholders(part, values));
    return parts.every((part) => part !== undefined) ? parts : [];
  });
}

/** Variables, without those that have no value. */
export function fillEnvironment(env: Record<string, string>, values: PlaceholderValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => {
      const value = fillPlaceholders(text, values);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** What is wrong with the placeholders of a text, one line for each that stands for nothing there. */
export function placeholderProblems(text: string, known: ReadonlySet<string>): string[] {
  return [...text.matchAll(MEANT_AS_PLACEHOLDER)]
    .map((match) => match[1]!)
    .filter((name) => !known.has(name))
    .map((name) => unknownPlaceholder(name, [...known]));
}

function unknownPlaceholder(name: string, known: string[]): string {
  const meant = known.find((one) => isMisspelling(name.trim(), one));
  const hint = meant === undefined ? '' : `; did you mean {${meant}}?`;
  return `uses {${name}}, which stands for nothing${known.length === 0 ? ' here' : ''}${hint}${known.length === 0 ? '' : ` (known: ${known.map((one) => `{${one}}`).join(' ')})`}`;
}
