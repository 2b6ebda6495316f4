type Bag = Record<string, unknown>;

/** Collects problems as `<key path> <what is wrong>` and gives back usable values meanwhile, so that one run names them all. */
export class ConfigReader {
  readonly problems: string[] = [];

  fail(path: string, what: string): void {
    this.problems.push(`${path || 'the file'} ${what}`);
  }

  map(path: string, value: unknown, known?: readonly string[]): Bag {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      this.fail(path, 'must be a mapping');
      return {};
    }
    for (const key of Object.keys(value)) {
      if (known && !known.includes(key))
        this.fail(path ? `${path}.${key}` : key, `is not a known key (known here: ${known.join(', ')})`);
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

  whole(path: string, value: unknown, min: number, max: number): number {
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
    this.fail(path, `must be a whole number from ${min} to ${max}`);
    return min;
  }
}
