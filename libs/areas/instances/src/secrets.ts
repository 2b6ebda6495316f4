import { resolveSecret, type OperatorConfig } from '@slipway/platform-config';
import type { RevisionSpec } from '@slipway/contracts';
import type { SpecIssue } from '@slipway/ports/instances';

/** Thrown if a secret that a spec names has no value now. The message names the secret, never its value. */
export class SecretUnavailable extends Error {}

/** The names of the operator's secrets that a spec refers to, with the field that does. */
export function secretRefs(spec: RevisionSpec): { field: string; name: string }[] {
  const refs = Object.entries(spec.runtime.env ?? {}).flatMap(([variable, value]) =>
    typeof value === 'object' ? [{ field: `runtime.env.${variable}`, name: value.secret_ref }] : [],
  );
  const credential = spec.endpoint?.credential_ref;
  return credential === undefined ? refs : [...refs, { field: 'endpoint.credential_ref', name: credential }];
}

export function unknownSecrets(spec: RevisionSpec, secrets: OperatorConfig['secrets']): SpecIssue[] {
  return secretRefs(spec)
    .filter(({ name }) => !Object.hasOwn(secrets, name))
    .map(({ field, name }) => ({
      field,
      code: 'unknown',
      message: `the operator's configuration has no secret "${name}"`,
    }));
}

/** The value behind a reference, read from its source at this moment. @throws SecretUnavailable */
export function readSecret(operator: OperatorConfig, name: string): string {
  try {
    return resolveSecret(operator, name);
  } catch (error) {
    throw new SecretUnavailable(error instanceof Error ? error.message : String(error));
  }
}
