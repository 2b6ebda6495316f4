import { createRequire } from 'node:module';
import type { Operation } from 'fast-json-patch';

const { compare } = createRequire(import.meta.url)('fast-json-patch') as typeof import('fast-json-patch');

/** RFC 6902: what turns the first spec into the second. */
export function specDiff(from: object, to: object): Operation[] {
  return compare(from, to);
}
