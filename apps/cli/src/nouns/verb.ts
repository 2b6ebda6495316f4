import type { OperationId, Slipway } from '@slipway/sdk';
import type { Session } from '../session.js';
import type { View } from '../table.js';

export interface Flag {
  flags: string;
  summary: string;
  /**
   * `file` is the content of a file, as JSON or YAML. `secret` is the text of a file: everyone can read a command line.
   */
  as?:
    | 'text'
    | 'number'
    | 'seconds'
    | 'json'
    | 'analysis'
    | 'file'
    | 'secret'
    | 'list'
    | 'pairs'
    | 'weights'
    | 'steps'
    | 'flag'
    | 'full'
    | 'since'
    | 'until';
  /**
   * The target field of the body (with dots for nested fields) or of the query.
   * Without either, the verb reads the flag.
   */
  body?: string;
  query?: string;
  /** All values that the flag takes: others are refused, except in a list, and the shell completes them. */
  values?: readonly string[];
  /** The flag may come several times: the verb reads a list of texts. */
  isRepeatable?: boolean;
  /** Where the shell finds values: a name of `SOURCES`. */
  source?: string;
}

/**
 * A value that a person typed. The api checks it: each method of the sdk takes another
 * type, and the table of verbs calls them all.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type TypedValue = any;

/** The input of a person, as the methods of the sdk take it. */
export interface CommandInput {
  args: string[];
  body: TypedValue;
  /** The query, the key, the etag and the signal. */
  options: Record<string, TypedValue>;
  flags: Record<string, unknown>;
}

/** How many rows a list shows by default. */
export const DEFAULT_ROWS = 100;

interface VerbWords {
  verb: string;
  /** In commander's notation: `<deployment> [revision]`. */
  args?: string;
  /** Other names for the same command. */
  aliases?: readonly string[];
  summary: string;
  /** Complete lines that `--help` shows. A test runs each. */
  examples: readonly string[];
  flags?: readonly Flag[];
  /** Takes a complete body by `--file`, and fields of it by flags. */
  takesBody?: boolean;
  takesKey?: boolean;
  /** Prints the key before the call, so that a person can adopt the request after a lost connection. */
  tellsKey?: boolean;
  takesIfMatch?: boolean;
  /** Operations that it calls, if no member `operation` names them. */
  operations?: readonly OperationId[];
  /** Asks for the name of what will be deleted, or for a yes. `--yes` skips the question. */
  confirm?: 'name' | 'yes';
  /** The first argument is a deployment. If it is in production, the command asks for its name first. */
  changesDeployment?: boolean;
}

/** Calls one method of the sdk, and shows its answer. */
export interface CallVerb extends VerbWords {
  view: View;
  /** A warning of the command itself about an answer. */
  warningOf?: (answer: object) => string | undefined;
  isList?: boolean;
  /** A list by the time of creation: it has `--since`, `--until` and `--order`. */
  isByTime?: boolean;
  /** A warning about a page of a list. */
  warningOfPage?: (page: object) => string | undefined;
  /** The answer contains an operation: `--wait` waits for its end. */
  answersOperation?: boolean;
  /** Completes the input before anything is sent. May ask a person, and print what the call will do. */
  prepare?: (session: Session, given: CommandInput, client: Slipway) => Promise<void>;
  call: (client: Slipway, given: CommandInput) => PromiseLike<unknown> | AsyncIterable<unknown>;
  rehearse?: (client: Slipway, given: CommandInput) => PromiseLike<unknown>;
}

/** Calls one operation of the api. Its members are derived from the SDK's tables; those given here override them. */
export interface EndpointVerb
  extends Partial<Omit<CallVerb, 'verb' | 'examples'>>, Pick<CallVerb, 'verb' | 'examples'> {
  operation: OperationId;
  /** Fields that are arguments, after those of the path. */
  argFields?: readonly string[];
  /** Fields without a flag. */
  without?: readonly string[];
  /** Finds the id of what the first argument names. Lists have none. */
  idOf?: (client: Slipway, given: string) => Promise<string>;
  /** Makes the body, before the fields of arguments are added. */
  bodyOf?: (given: CommandInput) => TypedValue;
}

/** Runs more than one call. */
export interface RunVerb extends VerbWords {
  run: (session: Session, given: CommandInput) => Promise<void>;
}

export type Verb = CallVerb | RunVerb;

export interface Noun {
  noun: string;
  aliases?: readonly string[];
  summary: string;
  verbs: readonly (Verb | EndpointVerb)[];
}
