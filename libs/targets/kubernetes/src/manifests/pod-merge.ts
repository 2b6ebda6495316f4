type Bag = Record<string, unknown>;

/** Lists of named items that are merged, because two items of a name may set different fields. */
const MERGED_BY_NAME = new Set(['containers', 'initContainers']);
/** Lists of named items that are replaced, such as a volume or a value: of two items of a name the later one counts. */
const REPLACED_BY_NAME = new Set(['env', 'volumes', 'ports']);

/**
 * Merges a part of a pod template over another: mappings deeply, named list items by their names, any other list as a
 * whole. `null` removes a key. Unknown fields are kept.
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
  // Not by assignment, because a key of the file may be `__proto__`.
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

/** Whether the value is a mapping. */
export function isBag(value: unknown): value is Bag {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
