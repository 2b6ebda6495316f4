import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { DefaultNamingStrategy, LessThan, type ValueTransformer } from 'typeorm';
import { uuidv7 } from 'uuidv7';

/** A new id: prefix, underscore, 32 hex digits of a UUIDv7. Ids of one prefix sort by the time they were made. */
export function newId(prefix: string): string {
  return `${prefix}_${uuidv7().replaceAll('-', '')}`;
}

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

/**
 * For a `timestamptz` column whose property is text: RFC 3339 in UTC with milliseconds, as every answer shows times. A default that `insert`
 * fills in is a `Date` all the same, since TypeORM leaves transformers out there; as JSON both are one text.
 */
export const rfc3339: ValueTransformer = {
  from: (at: Date | null) => at?.toISOString() ?? null,
  to: (text: unknown) => text,
};

/** For a `bigint` column whose property is a number. Sizes and counts of ours stay far below 2^53. Not for a default that `insert` fills in. */
export const wholeNumber: ValueTransformer = {
  from: (text: string | null) => (text === null ? null : Number(text)),
  to: (value: unknown) => value,
};

/** The column `created_at` for a property `created_at` or `createdAt`, so that no entity names its columns again. */
export class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}

/** Of a page, as far as a table needs it. */
interface RowPage {
  limit: number;
  /** Its first part is the id of the last row that was shown. */
  cursor?: readonly unknown[];
}

/**
 * How `find` gets a page of a tenant's rows, the newest first: ids sort by time. One row more than the page holds tells `pageOf` that
 * there is a next one.
 * @param also further conditions
 */
export function newestFirst<Where extends object = object>(tenantId: string, { limit, cursor }: RowPage, also?: Where) {
  const where = { tenant_id: tenantId, ...(also as Where), ...(cursor && { id: LessThan(String(cursor[0])) }) };
  return { where, order: { id: 'DESC' as const }, take: limit + 1 };
}
