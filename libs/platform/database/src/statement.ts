/**
 * A statement the server parses and plans once per connection. The name must belong to one text only,
 * so statements are made at module load, never inside a function.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const textByName = new Map<string, string>();

/** Registers a named statement. Throws when another text already has the name: Postgres would refuse it at run time. */
export function prepared(name: string, text: string): Statement {
  const known = textByName.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  textByName.set(name, text);
  return { name, text };
}
