/** What server-side apply keeps of each manager: the fields that it applied last, and their values' places in the object. */
export type Managers = Map<string, Set<string>>;

/** Of a field that is itself in a path. */
const SEPARATOR = '\u0000';
/** Say which object it is, and belong to nobody. */
const IDENTITY = new Set([
  'apiVersion',
  'kind',
  ['metadata', 'name'].join(SEPARATOR),
  ['metadata', 'namespace'].join(SEPARATOR),
]);

/** Lists count as one field: that is less than a server does, and enough for what we apply. */
function leavesOf(value: unknown, path: string[] = []): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map([[path.join(SEPARATOR), value]]);
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...leavesOf(inner, [...path, key])]));
}

/** Fields of `object` that `applied` would take from other managers by giving them another value: `.spec.replicas`. */
export function conflictsOf(managers: Managers, manager: string, object: unknown, applied: unknown): string[] {
  return [...leavesOf(applied)]
    .filter(([path, value]) => {
      const isOthers = [...managers].some(([other, paths]) => other !== manager && paths.has(path));
      return isOthers && JSON.stringify(valueAt(object, path)) !== JSON.stringify(value);
    })
    .map(([path]) => `.${path.split(SEPARATOR).join('.')}`);
}

/** Changes `object` into what it is after `manager` applied `applied`, by force. */
export function applyFields(managers: Managers, manager: string, object: object, applied: object): void {
  const leaves = leavesOf(applied);
  for (const path of IDENTITY) leaves.delete(path);
  for (const path of managers.get(manager) ?? []) {
    const isKept = leaves.has(path) || [...managers].some(([other, paths]) => other !== manager && paths.has(path));
    if (!isKept) setAt(object, path, undefined);
  }
  for (const [path, value] of leaves) {
    if (JSON.stringify(valueAt(object, path)) !== JSON.stringify(value)) {
      for (const [other, paths] of managers) if (other !== manager) paths.delete(path);
      setAt(object, path, value);
    }
  }
  managers.set(manager, new Set(leaves.keys()));
}

/** Whoever creates an object, or changes it without apply, owns what is another than `before`. */
export function ownFields(managers: Managers, manager: string, written: unknown, before?: unknown): void {
  const owned = managers.get(manager) ?? new Set();
  for (const [path, value] of leavesOf(written)) {
    const isSame = JSON.stringify(valueAt(before, path)) === JSON.stringify(value);
    if (!IDENTITY.has(path) && !isSame) owned.add(path);
  }
  managers.set(manager, owned);
}

function valueAt(object: unknown, path: string): unknown {
  let at: any = object;
  for (const key of path.split(SEPARATOR)) at = at?.[key];
  return at;
}

function setAt(object: any, path: string, value: unknown): void {
  const keys = path.split(SEPARATOR);
  const last = keys.pop() as string;
  let at = object;
  for (const key of keys) at = at[key] ??= {};
  if (value === undefined) delete at[last];
  else at[last] = value;
}
