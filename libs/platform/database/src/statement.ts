/**
 * The order in which every transaction takes row and advisory locks that several areas share. Whoever takes them in this order
 * cannot deadlock with anybody who does. A statement that takes one says so (`locking`), and in tests a transaction that goes
 * back in the list fails.
 *
 * What is not in the list is locked by one area only, which keeps an order of its own.
 */
export const LOCK_ORDER = [
  /** An Idempotency-Key: its request waits here for the one before. */
  'idempotency_key',
  /** The first lock of everything that changes a deployment. */
  'deployment',
  /** Decisions about a plan take turns. */
  'plan',
  /** A quota of a tenant: who adds to it counts after the one before. */
  'quota',
  /** What should run of a revision: holds, and the reconciler's changes. */
  'workload',
  /** The row of a durable operation: a commit of its worker, a cancel, a retry. */
  'operation',
  /** The end of an event stream. Always last, because the sequence it gives must become visible in commit order. */
  'event_stream',
] as const;

export type Lock = (typeof LOCK_ORDER)[number];

/**
 * A statement the server parses and plans once per connection. The name must belong to one text only,
 * so statements are made at module load, or once for each of a few kinds.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Made by `lookup`: may share a connection with reads of others. */
  readonly isLookup?: true;
  /** Made by `locking`: which locks of `LOCK_ORDER` it takes, in that order. */
  readonly locks?: readonly LockUse[];
}

interface LockUse {
  readonly lock: Lock;
  /** Which rows of that lock the values name. */
  readonly keysOf: (values: readonly unknown[]) => readonly string[];
}

const textByName = new Map<string, string>();

/** Registers a named statement. Throws when another text already has the name: Postgres would refuse it at run time. */
export function prepared(name: string, text: string): Statement {
  const known = textByName.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  textByName.set(name, text);
  return { name, text };
}

/**
 * A named statement that finds a few rows by key, at once: no locks, no writes, no functions that wait. `Database.read` sends
 * it over connections that all requests share, where a slow statement would hold up everybody behind it.
 */
export function lookup(name: string, text: string): Statement {
  return { ...prepared(name, text), isLookup: true };
}

/**
 * The keys of a look-up that is made for `Database.find`: `where id = any ${KEYS}`. Behind a select, where Postgres cannot count them: it
 * would take one plan for any number of keys to be dearer than one for this number, and plan anew each time, for more than the look-up costs.
 */
export const KEYS = '((select $1::text[])::text[])';

/**
 * A statement that takes a lock of the order, after those that it is said to take already. Its first value is the key, unless `keysOf` says otherwise.
 * @param keysOf which rows of that lock the values name: their ids, or what else tells one from another
 */
export function locking(
  lock: Lock,
  statement: Statement,
  keysOf: (values: readonly unknown[]) => readonly string[] = ([first]) => [String(first)],
): Statement {
  return { ...statement, locks: [...(statement.locks ?? []), { lock, keysOf }] };
}

/** Columns of a list of records, with their types. */
export type Columns = Readonly<Record<string, string>>;

/**
 * A list of records as SQL, an array for each column: one statement whatever its length. `at` is the place of a record in the list, from 0.
 * The planner takes such a list for a few rows and, because of the condition, for one: so it looks rows up by their key. Told of many it
 * would read whole tables while these are small, and keep that plan for a while when they are not.
 */
export function listOf(name: string, columns: Columns): string {
  const types = Object.values(columns);
  const names = Object.keys(columns);
  const arrays = types.map((type, index) => `$${index + 1}::${isSimple(type) ? type : 'text'}[]`);
  const selected = names.map((column, index) => `${fromList(column, types[index]!)} as ${column}`);
  return `(select place::int - 1 as at, ${selected.join(', ')} from unnest(${arrays.join(', ')}) with ordinality as one(${names.join(', ')}, place)
    where place = place + 0) as ${name}`;
}

/** An array of arrays would have to be of one length. */
function isSimple(type: string): boolean {
  return type !== 'jsonb' && !type.endsWith('[]');
}

function fromList(column: string, type: string): string {
  if (type === 'jsonb') return `${column}::jsonb`;
  if (isSimple(type)) return column;
  return `case when ${column} is not null then array(select jsonb_array_elements_text(${column}::jsonb))::${type} end`;
}

/** The values that go with `listOf`. What a record leaves out is null. */
export function listValues(columns: Columns, records: readonly object[]): unknown[][] {
  return Object.entries(columns).map(([name, type]) => {
    const isText = !isSimple(type);
    return records.map((record) => {
      const value = (record as Record<string, unknown>)[name] ?? null;
      return isText && value !== null ? JSON.stringify(value) : value;
    });
  });
}
