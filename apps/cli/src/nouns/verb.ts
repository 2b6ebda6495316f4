import type { Slipway } from '@slipway/sdk';
import type { Session } from '../session.js';
import type { View } from '../table.js';

export interface Flag {
  flags: string;
  summary: string;
  /** `file` is the content of a file, as JSON or YAML; `secret` its text: what stands in a command line is for all to read. */
  as?: 'text' | 'number' | 'json' | 'file' | 'secret' | 'list' | 'pairs' | 'weights' | 'steps' | 'flag';
  /** Where it goes: a field of the body (with dots where it lies deeper), or of the query. Otherwise the verb reads it. */
  body?: string;
  query?: string;
}

/**
 * A value that a person typed. The api checks it: each method of the sdk takes another type, and the table of verbs calls them all.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type TypedValue = any;

/** What somebody has typed, as the methods of the sdk take it. */
export interface CommandInput {
  args: string[];
  body: TypedValue;
  /** The query, the key, the etag and the signal. */
  options: Record<string, TypedValue>;
  flags: Record<string, unknown>;
}

/** How many rows a list shows unless said. */
export const DEFAULT_ROWS = 100;

interface VerbWords {
  verb: string;
  /** As commander writes them: `<deployment> [revision]`. */
  args?: string;
  summary: string;
  /** Whole lines, shown by `--help`. A test runs each. */
  examples: readonly string[];
  flags?: readonly Flag[];
  /** Whole body by `--file`, and fields of it by flags. */
  takesBody?: boolean;
  takesKey?: boolean;
  takesIfMatch?: boolean;
  /** Asks first: for the name of what goes away, or for a yes. `--yes` answers. */
  confirm?: 'name' | 'yes';
  /** The first argument is a deployment: one in production asks for its name first. */
  changesDeployment?: boolean;
}

/** Calls one method of the sdk, and shows its answer. */
export interface CallVerb extends VerbWords {
  view: View;
  isList?: boolean;
  /** It answers with an operation: `--wait` waits for its end. */
  answersOperation?: boolean;
  call: (client: Slipway, given: CommandInput) => PromiseLike<unknown> | AsyncIterable<unknown>;
  rehearse?: (client: Slipway, given: CommandInput) => PromiseLike<unknown>;
}

/** Does more than that. */
export interface RunVerb extends VerbWords {
  run: (session: Session, given: CommandInput) => Promise<void>;
}

export type Verb = CallVerb | RunVerb;

export interface Noun {
  noun: string;
  aliases?: readonly string[];
  summary: string;
  verbs: readonly Verb[];
}
