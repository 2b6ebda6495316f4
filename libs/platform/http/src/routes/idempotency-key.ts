import { createHash } from 'node:crypto';
import canonicalizeModule from 'canonicalize';
import { errors } from '../errors/platform.errors.js';

// The package is CommonJS with an ESM-shaped type: under nodenext its function may sit on `default`.
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;

/** A request's claim to be the same as an earlier one: unique on (tenant, method, path, key). */
export interface IdempotencyClaim {
  method: string;
  /** The concrete path, without query, each segment encoded one way. */
  path: string;
  key: string;
  /** SHA-256, hex, over the sorted query and the canonical JSON body; tells a retry from a reuse. */
  fingerprint: string;
}

/**
 * Reads the `Idempotency-Key` header: visible ASCII, 1 to 128 characters, bare or as an RFC 8941 string. `abc` and
 * `"abc"` are the same key.
 * @throws idempotency_key_invalid (400)
 */
export function parseIdempotencyKey(header: string | string[]): string {
  if (typeof header !== 'string') throw errors.idempotency_key_invalid();
  const key = header.startsWith('"') ? unquote(header) : header;
  if (key === undefined || !/^[\x21-\x7e]{1,128}$/.test(key)) throw errors.idempotency_key_invalid();
  return key;
}

/** A parser of all structured headers would be one more dependency for the one kind that a key is. */
function unquote(header: string): string | undefined {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1];
  return inner?.replace(/\\(["\\])/g, '$1');
}

/** @param digest what stands for the body of a streamed upload, whose bytes are not held in memory */
export function fingerprintOf(query: Record<string, unknown>, body: unknown, digest?: string): string {
  const sorted = Object.keys(query)
    .sort()
    .map((name) => [name, query[name]]);
  const content = digest ?? canonicalize(body ?? {}) ?? '';
  return createHash('sha256').update(JSON.stringify(sorted)).update('\n').update(content).digest('hex');
}

/** `/a%62c` and `/abc` are one resource, so they are one path. */
export function concretePathOf(url: string): string {
  const path = url.split('?', 1)[0]!;
  return path
    .split('/')
    .map((segment) => encodeURIComponent(decodeURIComponent(segment)))
    .join('/');
}
