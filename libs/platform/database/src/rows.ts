import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { DefaultNamingStrategy, ILike, LessThan, MoreThan, Raw, type ValueTransformer } from 'typeorm';
import { uuidv7 } from 'uuidv7';

/** Returns a new id: prefix, underscore, 32 hex digits of a UUIDv7. Ids with the same prefix sort by creation time. */
export function newId(prefix: string): string {
  return `${prefix}_${uuidv7().replaceAll('-', '')}`;
}

// The package is CommonJS, and its typings declare a default export that it does not have.
const canonicalize = createRequire(import.meta.url)('canonicalize') as (value: unknown) => string | undefined;

/** Returns the RFC 8785 text of a JSON value, which is the same for every order of keys. */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? 'null';
}

/** SHA-256 of the canonical JSON, as 64 hex digits. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/**
 * For a `timestamptz` column whose property is text: RFC 3339 in UTC with milliseconds, the format of times in every
 * answer. A default that `insert` fills in is still a `Date`, because TypeORM skips transformers there; in JSON both
 * give the same text.
 */
export const rfc3339: ValueTransformer = {
  from: (at: Date | null) => at?.toISOString() ?? null,
  to: (text: unknown) => text,
};

/**
 * For a `bigint` column whose property is a number. Our sizes and counts stay far below 2^53. Not for a default that
 * `insert` fills in.
 */
export const wholeNumber: ValueTransformer = {
  from: (text: string | null) => (text === null ? null : Number(text)),
  to: (value: unknown) => value,
};

/**
 * Names the column `created_at` for a property `created_at` or `createdAt`, so that no entity repeats the names of its
 * columns.
 */
export class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}

/** The parts of a request for a page that a table needs. */
interface Position {
  limit: number;
  /** Its first part is the id of the last row that was shown. */
  cursor?: readonly unknown[];
  order?: 'asc' | 'desc';
  /** RFC 3339. */
  since?: string;
  until?: string;
}

/**
 * The options with which `findPage` reads a page of a tenant's rows by their ids, which sort by time: newest first, or
 * oldest first.
 * @param also further conditions
 * @param time the column with the time of creation, for `since` and `until`
 */
export function newestFirst<Where extends object = object>(
  tenantId: string,
  { limit, cursor, order = 'desc', since, until }: Position,
  also?: Where,
  time = 'created_at',
) {
  const past = order === 'asc' ? MoreThan : LessThan;
  const where = {
    tenant_id: tenantId,
    ...(also as Where),
    ...timesBetween(time, since, until),
    ...(cursor && { id: past(String(cursor[0])) }),
  };
  return { where, order: { id: order === 'asc' ? ('ASC' as const) : ('DESC' as const) }, limit };
}

/** The condition on a column with a time; none if there is no bound. */
export function timesBetween(column: string, since: string | undefined, until: string | undefined): object {
  if (since === undefined && until === undefined) return {};
  const bounds = { since: since ?? null, until: until ?? null };
  return { [column]: Raw((time) => `(${isBetween(time, ':since', ':until')})`, bounds) };
}

/** The same as SQL. Both bounds may be null. */
export function isBetween(column: string, since: string, until: string): string {
  const bound = (value: string, operator: '>=' | '<') =>
    `(cast(${value} as timestamptz) is null or ${column} ${operator} cast(${value} as timestamptz))`;
  return `${bound(since, '>=')} and ${bound(until, '<')}`;
}

/** The condition that a text contains another one, in upper or lower case. */
export const containing = (text: string) => ILike(`%${text.replace(/[\\%_]/g, '\\$&')}%`);
