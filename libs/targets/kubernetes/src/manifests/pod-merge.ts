type Bag = Record<string, unknown>;

/** Lists of things with names that may say different things of one: they are merged. */
const MERGED_BY_NAME = new Set(['containers', 'initContainers']);
/** Lists of things with names that say one thing in one way: a volume, a value. The later one stands. */
const REPLACED_BY_NAME = new Set(['env', 'volumes', 'ports']);

/**
 * A part of a pod template over another: mappings deeply, what has names by its name, any other list whole; `null` takes a key away. What
 * nobody here knows passes through.
 */
export function mergePod<T>(base: T, over: unknown): T {
  return merged(base, over) as T;
}

function merged(base: unknown, over: unknown, key = ''): unknown {
  if (isNamedList(base) && isNamedList(over)) {
    if (MERGED_BY_NAME.has(key)) return byName(base, over, (one, other) => merged(one, other) as Bag);
    if (REPLACED_BY_NAME.has(key)) return byName(base, over, (_one, other) => other);
  }
  if (!isBag(over)) return over;
  if (!isBag(base)) return merged({}, over);
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  // Not by assignment: a key of the file may be called `__proto__`.
  return Object.fromEntries(
    [...keys]
      .filter((each) => ownOf(over, each) !== null)
      .map((each) => {
        const [before, after] = [ownOf(base, each), ownOf(over, each)];
        return [each, after === undefined ? before : merged(before, after, each)];
      }),
  );
}

function byName(base: Bag[], over: Bag[], join: (one: Bag, other: Bag) => Bag): Bag[] {
  const changes = new Map(over.map((one) => [one['name'], one]));
  const kept = base.map((one) => {
    const change = changes.get(one['name']);
    changes.delete(one['name']);
    return change ? join(one, change) : one;
  });
  return [...kept, ...changes.values()];
}

function isNamedList(value: unknown): value is Bag[] {
  return Array.isArray(value) && value.every((one) => isBag(one) && typeof one['name'] === 'string');
}

function ownOf(bag: Bag, key: string): unknown {
  return Object.hasOwn(bag, key) ? bag[key] : undefined;
}

/** Whether it is a mapping. */
export function isBag(value: unknown): value is Bag {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
