import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

// The package is CommonJS whose typings name a default export it does not have.
const canonicalize = createRequire(import.meta.url)('canonicalize') as (value: unknown) => string | undefined;

/** RFC 8785 text of a JSON value: the same for every order of keys. */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? 'null';
}

/** SHA-256 of the canonical JSON, as 64 hex digits. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
