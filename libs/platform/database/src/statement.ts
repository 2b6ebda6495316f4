/**
 * A statement the server parses and plans once per connection. The name must belong to one text only,
 * so statements are made at module load, never inside a function.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Made by `lookup`: may share a connection with reads of others. */
  readonly isLookup?: true;
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
