import type { Lock } from './lock-order.js';

/**
 * A statement the server parses and plans once per connection. The name must belong to one text only,
 * so statements are made at module load, or once for each of a few sizes (`bySize`).
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Made by `lookup`: may share a connection with reads of others. */
  readonly isLookup?: true;
  /** Made by `locking`: which lock of `LOCK_ORDER` it takes. */
  readonly locks?: { readonly lock: Lock; readonly keysOf: (values: readonly unknown[]) => readonly string[] };
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
 * A statement that takes a lock of the order. Its first value is the key, unless `keysOf` says otherwise.
 * @param keysOf which rows of that lock the values name: their ids, or what else tells one from another
 */
export function locking(
  lock: Lock,
  statement: Statement,
  keysOf: (values: readonly unknown[]) => readonly string[] = ([first]) => [String(first)],
): Statement {
  return { ...statement, locks: { lock, keysOf } };
}

/** The next of 1, 8, 64, … that is not less: lists of few different lengths make few different statements. */
export function roundedSize(length: number): number {
  return 8 ** Math.ceil(Math.log2(Math.max(1, length)) / 3);
}

/** Columns of a list of records, with their types. */
export type Columns = Readonly<Record<string, string>>;

/**
 * A list of records as SQL, `(values ($1::text, …), …) as name(id, …)`. Out of JSON the planner takes every list for a hundred rows
 * and reads whole tables; of one record written like this it knows that it is one, and looks its row up.
 * @param size how many records; `listValues` fills the list up to it
 */
export function listOf(name: string, columns: Columns, size: number): string {
  const types = Object.values(columns);
  const row = (at: number) =>
    `(${types.map((type, index) => `$${at * types.length + index + 1}::${type}`).join(', ')})`;
  const rows = Array.from({ length: size }, (_, at) => row(at));
  return `(values ${rows.join(', ')}) as ${name}(${Object.keys(columns).join(', ')})`;
}

/** The values that go with `listOf`, a record after the other. What a record leaves out is null; missing records are all null. */
export function listValues(columns: Columns, records: readonly object[], size: number): unknown[] {
  const names = Object.keys(columns);
  const values: unknown[] = new Array(size * names.length).fill(null);
  records.forEach((record, row) =>
    names.forEach((name, column) => {
      const value = (record as Record<string, unknown>)[name] ?? null;
      const isJson = value !== null && columns[name] === 'jsonb';
      values[row * names.length + column] = isJson ? JSON.stringify(value) : value;
    }),
  );
  return values;
}

/** One statement for each order of length. */
export function bySize(make: (size: number) => Statement): (size: number) => Statement {
  const made = new Map<number, Statement>();
  return (size) => {
    const statement = made.get(size) ?? make(size);
    made.set(size, statement);
    return statement;
  };
}

/**
 * One statement for a list of records, each with rows of its own in the answer: such a row says by `at` whose it is. Where several do the
 * same in one transaction, their records travel as one list (`Database.tx` with `gathers`).
 */
export interface Setwise {
  readonly columns: Columns;
  readonly of: (size: number) => Statement;
}

/**
 * @param columns of a record; in the list `at` stands before them
 * @param text of the statement, made of the list, which is named `given`
 * @param locks which lock it takes for a record, as `locking` says it of other statements
 */
export function setwise(
  name: string,
  columns: Columns,
  text: (given: string) => string,
  locks?: { lock: Lock; keyOf: (record: Record<string, unknown>) => string },
): Setwise {
  const listed: Columns = { at: 'int', ...columns };
  const names = Object.keys(listed);
  const keysOf = (values: readonly unknown[]): string[] => {
    const keys: string[] = [];
    for (let first = 0; first < values.length && values[first] !== null; first += names.length)
      keys.push(locks!.keyOf(Object.fromEntries(names.map((column, index) => [column, values[first + index]]))));
    return keys;
  };
  const of = bySize((size) => {
    // Leaves out what only fills the list up, and has the planner expect one record: for 64 of them it would read whole tables while these
    // are small, and keep that plan when they are not.
    const given = `(select * from ${listOf('one', listed, size)} where one.at = one.at + 0) as given`;
    const statement = prepared(`${name}-${size}`, text(given));
    return locks ? locking(locks.lock, statement, keysOf) : statement;
  });
  return { columns: listed, of };
}
