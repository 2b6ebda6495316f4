type Bag = Record<string, unknown>;

/**
 * What the operator's file says, added to what is built in. Both are written as the file is. Mappings merge key by key, `null` takes a
 * key away, everything else replaces (RFC 7386). Targets merge by their names; the file's stand first, so that its problems keep the
 * places they have in it. A target that the file gives another kind is the file's alone.
 */
export function addedTo(builtIn: Bag, file: Bag): Bag {
  const { targets: ours, ...settings } = builtIn;
  // A section of which nothing is left but its name says nothing.
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

/** Mappings key by key; `null` takes a key away, everything else replaces (RFC 7386). */
export function merged(base: unknown, change: unknown): unknown {
  if (!isBag(change) || !isBag(base)) return change;
  const keys = new Set([...Object.keys(base), ...Object.keys(change)]);
  // Not by assignment: a key of the file may be called `__proto__`.
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
