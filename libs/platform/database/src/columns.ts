import { DefaultNamingStrategy, type ValueTransformer } from 'typeorm';

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
