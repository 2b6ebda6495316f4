import type { IdentityProof } from '@slipway/contracts';
import type { InstanceSpec } from './driver.js';

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
