import { operatorPatternProblem, type AllowEntry } from '@slipway/contracts';
import { ALLOW_ENTRY, keysOf } from './setting-schemas.js';

type Bag = Record<string, unknown>;

/**
 * Collects problems as `<key path> <problem>` and returns usable values meanwhile, so that one run reports all
 * problems.
 */
export class ConfigReader {
  readonly problems: string[] = [];
  /**
   * Secrets that settings name, with the key path of the setting; the file must declare them. `mayBeReference`: the
   * secret may also be one whose value only a cluster has.
   */
  readonly secretsNamed: { path: string; name: string; mayBeReference?: boolean }[] = [];

  fail(path: string, what: string): void {
    this.problems.push(`${path || 'the file'} ${what}`);
  }

  map(path: string, value: unknown, known?: readonly string[]): Bag {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      this.fail(path, 'must be a mapping');
      return {};
    }
    for (const key of Object.keys(value)) {
      if (known && !known.includes(key)) this.fail(path ? `${path}.${key}` : key, unknownKey(key, known));
    }
    return value as Bag;
  }

  list(path: string, value: unknown): unknown[] {
    if (Array.isArray(value)) return value;
    this.fail(path, 'must be a list');
    return [];
  }

  string(path: string, value: unknown, pattern?: RegExp): string {
    if (typeof value !== 'string' || value === '') {
      this.fail(path, 'must be a non-empty string');
      return '';
    }
    if (pattern && !pattern.test(value)) this.fail(path, `must match ${pattern.source}, not ${JSON.stringify(value)}`);
    return value;
  }

  /** Reads the names of tenants, or `*` for all of them. */
  names(path: string, value: unknown): string[] {
    return this.list(path, value).map((one, index) => this.string(`${path}[${index}]`, one));
  }

  /** Reads a pattern of origins that names a host. */
  origin(path: string, value: unknown): string {
    const pattern = this.string(path, value);
    const problem = pattern === '' ? undefined : operatorPatternProblem(pattern);
    if (problem) this.fail(path, problem);
    return pattern;
  }

  /** Reads a list of origins, each alone or with the tenants that may use it. */
  allow(path: string, value: unknown): AllowEntry[] {
    return this.list(path, value).map((one, index) => {
      const at = `${path}[${index}]`;
      if (one === null || typeof one !== 'object') return this.origin(at, one);
      const { origin, tenants } = this.map(at, one, keysOf(ALLOW_ENTRY));
      return { origin: this.origin(`${at}.origin`, origin), tenants: this.names(`${at}.tenants`, tenants) };
    });
  }

  whole(path: string, value: unknown, min: number, max: number): number {
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
    this.fail(path, `must be a whole number from ${min} to ${max}`);
    return min;
  }
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = known.find((one) => isMisspelling(key, one));
  return `is not a known key${meant === undefined ? '' : `; did you mean ${meant}?`} (known here: ${known.join(', ')})`;
}

/**
 * Reports one letter too many, too few or wrong, or two letters swapped. Only for words that are long enough to be
 * distinguished that way.
 */
export function isMisspelling(written: string, meant: string): boolean {
  const [one, other] = [written.toLowerCase().replaceAll('-', '_'), meant.toLowerCase()];
  if (one === other) return true;
  if (Math.min(one.length, other.length) < 3 || Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [rest, otherRest] = [one.slice(start), other.slice(start)];
  const isSwapped = rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2);
  return (
    isSwapped || rest.slice(1) === otherRest.slice(1) || rest.slice(1) === otherRest || rest === otherRest.slice(1)
  );
}
