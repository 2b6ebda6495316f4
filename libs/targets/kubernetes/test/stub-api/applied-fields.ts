/** The state of server-side apply for each manager: the paths of the fields that it applied last. */
export type Managers = Map<string, Set<string>>;

/** Separates the fields of a path. */
const SEPARATOR = '\u0000';
/** Identify the object and belong to no manager. */
const IDENTITY = new Set([
  'apiVersion',
  'kind',
  ['metadata', 'name'].join(SEPARATOR),
  ['metadata', 'namespace'].join(SEPARATOR),
]);

/** A list counts as one field. A server does more, but this is enough for what we apply. */
function leavesOf(value: unknown, path: string[] = []): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map([[path.join(SEPARATOR), value]]);
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...leavesOf(inner, [...path, key])]));
}

/** Fields of `object` that belong to other managers and that `applied` would change: `.spec.replicas`. */
export function conflictsOf(managers: Managers, manager: string, object: unknown, applied: unknown): string[] {
  return [...leavesOf(applied)]
    .filter(([path, value]) => {
      const isOthers = [...managers].some(([other, paths]) => other !== manager && paths.has(path));
      return isOthers && JSON.stringify(valueAt(object, path)) !== JSON.stringify(value);
    })
    .map(([path]) => `.${path.split(SEPARATOR).join('.')}`);
}

/** Changes `object` as if `manager` applied `applied` by force. */
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

/** Makes the manager the owner of all fields that differ from `before`, after a creation or a change without apply. */
export function ownFields(managers: Managers, manager: string, written: unknown, before?: unknown): void {
  const owned = managers.get(manager) ?? new Set();
  for (const [path, value] of leavesOf(written)) {
    const isSame = JSON.stringify(valueAt(before, path)) === JSON.stringify(value);
    if (IDENTITY.has(path) || isSame) continue;
    owned.add(path);
    // A changed value belongs to the manager that changed it.
    for (const [other, paths] of managers) if (other !== manager) paths.delete(path);
  }
  managers.set(manager, owned);
}

/** As a server records it. A list is one field, so its items have no entries of their own. */
export function managedFieldsOf(managers: Managers, object: object): object[] {
  return [...managers].map(([manager, paths]) => {
    const fieldsV1: any = {};
    for (const path of paths) {
      if (valueAt(object, path) === undefined) continue;
      const keys = path.split(SEPARATOR);
      let at = fieldsV1;
      for (const key of keys) at = at[`f:${key}`] ??= {};
    }
    return { manager, operation: 'Update', fieldsType: 'FieldsV1', fieldsV1 };
  });
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
