type Bag = Record<string, unknown>;

/**
 * Adds the operator's file to the built-in settings; both have the format of the file. Mappings merge key by key,
 * `null` removes a key, and everything else replaces (RFC 7386).
 * Targets merge by name. Targets of the file come first, so that their problems keep the indexes that they have in it.
 * If the file gives a target another kind, only the file's entry counts.
 */
export function addedTo(builtIn: Bag, file: Bag): Bag {
  const { targets: ours, ...settings } = builtIn;
  // A section that consists only of its name changes nothing.
  const { targets: theirs = [], ...changes } = Object.fromEntries(
    Object.entries(file).filter(([, value]) => value !== null),
  );
  return { ...(merged(settings, changes) as Bag), targets: mergedTargets(ours, theirs) };
}

function mergedTargets(builtIn: unknown, file: unknown): unknown {
  if (!Array.isArray(builtIn) || !Array.isArray(file)) return file;
  const named = new Map(builtIn.filter(isBag).map((target) => [target['name'], target]));
  const given = file.map((target: unknown) => {
    const ours = isBag(target) ? named.get(target['name']) : undefined;
    if (!isBag(target) || !ours) return target;
    named.delete(target['name']);
    const isSameKind = target['kind'] === undefined || target['kind'] === ours['kind'];
    return isSameKind ? merged(ours, target) : target;
  });
  return [...given, ...named.values()];
}

/** Merges mappings key by key; `null` removes a key, and everything else replaces (RFC 7386). */
export function merged(base: unknown, change: unknown): unknown {
  if (!isBag(change) || !isBag(base)) return change;
  const keys = new Set([...Object.keys(base), ...Object.keys(change)]);
  // Without assignments, because a key of the file may be called `__proto__`.
  return Object.fromEntries(
    [...keys]
      .filter((key) => change[key] !== null)
      .map((key) => {
        const [before, after] = [ownOf(base, key), ownOf(change, key)];
        return [key, after === undefined ? before : merged(before, after)];
      }),
  );
}

function ownOf(bag: Bag, key: string): unknown {
  return Object.hasOwn(bag, key) ? bag[key] : undefined;
}

function isBag(value: unknown): value is Bag {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
