import type { Argument, Command, Option } from 'commander';
import { SOURCES, type TypedWords } from './completion-sources.js';
import { flagsOf } from './nouns/flags.js';
import { METHODS } from './nouns/raw.js';
import type { Flag, Verb } from './nouns/verb.js';
import { verbOf } from './program.js';
import type { Session } from './session.js';

/** A shell that hangs at Tab is worse than a shell that completes no names. */
const MOST_MS = 2_000;
const MOST_NAMES = 100;
/** The shell would interpret any other character. */
const HARMLESS = /^[\w.:@/+=,-]+$/;
/** Arguments with fixed values. */
const WORDS: Record<string, readonly string[]> = { shell: ['bash', 'zsh', 'fish'], method: METHODS };

interface OpenValue {
  option: Option;
  /** The part of the value that is typed. */
  typed: string;
  /** The text before it, such as `--strategy=`, which stays. */
  before: string;
}

interface TypedLine {
  command: Command;
  args: string[];
  flags: Map<string, string>;
  asked?: OpenValue;
}

/** Completes the last of these words: to commands, flags, their values, or existing names. */
export async function completionsOf(program: Command, session: Session, words: readonly string[]): Promise<string[]> {
  const joined = joinedValues(words);
  const typed = joined.at(-1) ?? '';
  const line = typedLineOf(program, joined);
  const context = line.flags.get('--context');
  if (context !== undefined) session.flags = { ...session.flags, context };
  const names = { args: line.args, flag: (name: string) => line.flags.get(name) };
  const found = line.asked
    ? await valuesOf(line.asked, session, names, verbOf(line.command))
    : await candidates(line.command, program, session, names, typed);
  const start = line.asked ? line.asked.before + line.asked.typed : typed;
  const fitting = [...new Set(found)].filter((one) => one.startsWith(start) && HARMLESS.test(one));
  if (joined.length === words.length) return fitting;
  // bash replaces only the part after the sign.
  const own = words.at(-1) ?? '';
  return fitting.map((one) => one.slice(start.length - (SIGNS.includes(own) ? 0 : own.length)));
}

/** Signs at which bash splits a word. */
const SIGNS = ['=', ':'];

/** Joins the words that bash has split: `--strategy`, `=`, `can`. */
function joinedValues(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [i, word] of words.entries()) {
    const isPart = i > 0 && (SIGNS.includes(word) || SIGNS.includes(words[i - 1]!));
    if (isPart) joined.push(`${joined.pop()}${word}`);
    else joined.push(word);
  }
  return joined;
}

function typedLineOf(program: Command, words: readonly string[]): TypedLine {
  const line: TypedLine = { command: program, args: [], flags: new Map() };
  const optionOf = (word: string): Option | undefined =>
    [...line.command.options, ...program.options].find(({ long, short }) => word === long || word === short);
  const last = words.length - 1;
  for (let i = 0; i < last; i += 1) {
    const word = words[i]!;
    const next = line.command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next && line.args.length === 0) line.command = next;
    else if (!word.startsWith('-')) line.args.push(word);
    else {
      const [name = '', value] = splitOnce(word, '=');
      const option = optionOf(name);
      const takesNext = value === undefined && option !== undefined && (option.required || option.optional);
      if (takesNext) i += 1;
      if (i === last) line.asked = { option: option!, typed: words[last]!, before: '' };
      else if (option?.long) line.flags.set(option.long, value ?? (takesNext ? words[i]! : ''));
    }
  }
  const [name = '', value] = splitOnce(words[last] ?? '', '=');
  const option = name.startsWith('-') && value !== undefined && !line.asked ? optionOf(name) : undefined;
  if (option && (option.required || option.optional)) line.asked = { option, typed: value!, before: `${name}=` };
  return line;
}

const splitOnce = (text: string, sign: string): [string, string?] => {
  const at = text.indexOf(sign);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

/** The values of an option. Without any, the shell completes files. */
async function valuesOf(
  { option, typed, before }: OpenValue,
  session: Session,
  names: TypedWords,
  verb: Verb | undefined,
): Promise<string[]> {
  const { long, argChoices } = option;
  if (long === '--context') return session.contexts.list().map(({ name }) => before + name);
  // The part before the last comma stays.
  const kept = before + typed.slice(0, typed.lastIndexOf(',') + 1);
  if (long === '--json') return fieldsOf(verb).map((name) => kept + name);
  const flag = verb && flagsOf(verb).find(({ flags }) => flags === option.flags);
  const isList = flag?.as === 'list' || flag?.as === 'pairs' || flag?.as === 'weights';
  const values = argChoices ?? flag?.values ?? (flag ? await sourceOf(flag, session, names) : []);
  return values.map((value) => (isList ? kept : before) + value);
}

/** The fields that the table of a command shows. */
function fieldsOf(verb: Verb | undefined): string[] {
  if (verb === undefined || !('view' in verb)) return [];
  return verb.view.columns.flatMap(({ of, field }) => field ?? (typeof of === 'string' ? of.split('.')[0]! : []));
}

async function sourceOf({ source, as }: Flag, session: Session, names: TypedWords): Promise<string[]> {
  if (source === undefined) return [];
  const values = await namesOf(source, session, names);
  // The weight follows.
  return as === 'weights' ? values.map((value) => `${value}=`) : values;
}

async function candidates(
  command: Command,
  program: Command,
  session: Session,
  names: TypedWords,
  typed: string,
): Promise<string[]> {
  if (typed.startsWith('-'))
    return [...command.options, ...program.options].flatMap(({ long }) => (long ? [long] : []));
  // After a word that is no command, nothing can follow.
  if (command.commands.length > 0) return names.args.length > 0 ? [] : command.commands.map((one) => one.name());
  const argument = argumentOf(command, names.args.length);
  const name = argument?.name() ?? '';
  if (name === 'context') return session.contexts.list().map((one) => one.name);
  if (Object.hasOwn(WORDS, name)) return [...WORDS[name]!];
  // The name of a deployment also identifies an operation: the one that is running on it.
  const kinds = name === 'operation' ? ['deployment', name] : [name];
  const found = await Promise.all(kinds.map((kind) => namesOf(kind, session, names)));
  const isNew = (one: string) => !argument?.variadic || !names.args.includes(one);
  return found.flat().filter(isNew);
}

/** The last argument may take several words. */
function argumentOf({ registeredArguments: all }: Command, index: number): Argument | undefined {
  return all[index] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
}

async function namesOf(source: string, session: Session, names: TypedWords): Promise<string[]> {
  if (!Object.hasOwn(SOURCES, source)) return [];
  const [valuesOfRow, read] = SOURCES[source]!;
  try {
    const { withinTime } = await import('@slipway/sdk');
    const { data } = await withinTime(MOST_MS, undefined, async (signal) =>
      read(await session.client(), { signal, maxRetries: 0, limit: MOST_NAMES }, names),
    );
    return data
      .flatMap((row) => valuesOfRow(row as Record<string, unknown>))
      .filter((value) => value !== undefined && value !== null && value !== '')
      .map(String);
  } catch {
    return [];
  }
}
