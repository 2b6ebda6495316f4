import type { EntryKind } from './published.js';

/** Passports that are revoked are few, and one expires without a word: they are always listed. */
export type DigestedKind = Exclude<EntryKind, 'passport'>;

/**
 * The versions of all rows of one kind in a few digits, kept up to date row by row. Versions are moments in microseconds, so two sets of as many
 * rows with the same sum and the same exclusive or are the same set.
 */
export class VersionDigest {
  private count = 0;
  private sum = 0n;
  private xor = 0n;

  add(version: number): void {
    this.count += 1;
    this.sum += whole(version);
    this.xor ^= whole(version);
  }

  remove(version: number): void {
    this.count -= 1;
    this.sum -= whole(version);
    this.xor ^= whole(version);
  }

  toString(): string {
    return `${this.count}:${this.sum}:${this.xor}`;
  }
}

/** What was read from a file may have none. */
const whole = (version: number): bigint => BigInt(Math.trunc(version) || 0);

/** As `VersionDigest` writes it, of a relation with a column `version`. */
export const digestIn = (relation: string): string =>
  `(select count(*) || ':' || coalesce(sum(version), 0) || ':' || coalesce(bit_xor(version), 0) from ${relation})`;
