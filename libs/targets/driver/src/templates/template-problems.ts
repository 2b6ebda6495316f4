import { MODEL_FIELDS, placeholdersIn, placeholderProblems, type DeclaredArg } from './spec-check.js';
import type { TemplateConfig } from './template-config.js';
import type { ConfigReader } from '@slipway/platform-config';
import { ARG_NAME } from './template-schemas.js';

export interface TemplateProblem {
  /** Path within the engine. */
  key: string;
  problem: string;
}

/**
 * Options that run a repository's code or a model's commands, that let any client end the engine, or that log prompts.
 */
const HARMFUL: Record<string, string> = {
  '--trust-remote-code': 'it runs the code of the repository that a client names',
  '--tools': 'it lets a model run commands on the host',
  '--agent': 'it lets a model run commands on the host',
  '-ag': 'it lets a model run commands on the host',
  '--allow-terminate-by-client': 'it lets every client stop the engine',
  '--enable-log-requests': 'it logs prompts',
  '--enable-log-outputs': 'it logs responses',
  '--log-requests': 'it logs prompts',
  '--log-prompts-dir': 'it writes prompts to files',
  '--crash-dump-folder': 'it writes prompts to files',
};
/** Variables with the same effects. */
const RESERVED: Record<string, string> = {
  TRUST_REMOTE_CODE: 'it runs the code of the repository that a client names',
  LLAMA_ARG_TOOLS: 'it lets a model run commands on the host',
  LLAMA_ARG_AGENT: 'it lets a model run commands on the host',
};

/**
 * Problems of a command of an engine.
 * @param known the placeholders that have a meaning there
 */
export function commandProblems(
  key: string,
  command: TemplateConfig['command'],
  known: ReadonlySet<string>,
): TemplateProblem[] {
  const problems = command.flatMap((element, index) =>
    [element].flat().flatMap((part) => {
      const all = [...placeholderProblems(part, known), ...harmOf(part)];
      return all.map((problem) => ({ key: `${key}[${index}]`, problem }));
    }),
  );
  const [program = ''] = command;
  const isFixed = !Array.isArray(program) && placeholderProblems(program, new Set()).length === 0;
  if (!isFixed) problems.push({ key: `${key}[0]`, problem: 'must name its program without placeholders' });
  return [...problems, ...scriptProblems(key, command)];
}

/** Programs that run a script from their command line, by the end of their path. */
const INTERPRETER = /(?:^|\/)(?:(?:ba|da|a|k|mk|z|c|tc|fi)?sh|python[\d.]*|perl|ruby|node)$/;
/** The option before a script, also with others in one word: `-c`, `-ec`, `-lc`, `-e`, `-E`, `-p`. */
const SCRIPT_OPTION = /^-(?=[A-Za-z]{0,20}[ceEp])[A-Za-z]{1,20}$|^--(?:command|eval|print)$/;
/** An option with its script in the same word: `-cprint(1)`, `--eval=1`. */
const WITH_SCRIPT = /^-[A-Za-z]{0,20}[ceEp][^A-Za-z]|^-[ceEp].*[^A-Za-z]|^--(?:command|eval|print)=/s;
/** Options of interpreters whose value is the next word. */
const WITH_VALUE = /^[-+][A-Za-z]*[oO]$|^-[WXr]$|^--(?:require|import)$/;

/**
 * A shell must not read a client's text as a part of its script, and neither must another interpreter. It need not be
 * the program itself: `env` and `tini` start one.
 */
function scriptProblems(key: string, command: TemplateConfig['command']): TemplateProblem[] {
  const words = command.flatMap((element, index) => [element].flat().map((word) => ({ word, index })));
  return words.flatMap(({ word }, at) => {
    const script = INTERPRETER.test(word) ? scriptOf(words.slice(at + 1)) : undefined;
    if (!script || !placeholdersIn(script.word).some((name) => name.startsWith('model.'))) return [];
    const problem =
      'must not contain a placeholder of the model, because a shell would interpret its value: end the script with "$@" and put the placeholder after it';
    return [{ key: `${key}[${script.index}]`, problem }];
  });
}

/** Returns the script among the arguments of an interpreter; undefined if it runs a file. */
function scriptOf<T extends { word: string }>(args: readonly T[]): T | undefined {
  let hasScript = false;
  for (let at = 0; at < args.length; at += 1) {
    const { word } = args[at]!;
    if (!/^[-+]/.test(word)) return hasScript ? args[at] : undefined;
    if (WITH_SCRIPT.test(word)) return args[at];
    hasScript ||= SCRIPT_OPTION.test(word);
    if (WITH_VALUE.test(word)) at += 1;
  }
  return undefined;
}

/**
 * Problems of the declaration of an argument.
 * @param args all arguments of the engine
 */
export function argProblems(arg: DeclaredArg, args: readonly DeclaredArg[]): TemplateProblem[] {
  const { config, type } = arg;
  const problems: TemplateProblem[] = [];
  const add = (part: string, problem: string) => problems.push({ key: `args.${arg.name}${part}`, problem });
  const blanks = arg.elements.join('\n').split('{}').length - 1;
  if (arg.elements.length < 1 || arg.elements.length > 2) add('.arg', 'must have one or two elements');
  if (type === 'switch' && blanks > 0) add('', 'is a switch, so it must not contain {}');
  if (type !== 'switch' && blanks !== 1) add('', 'must contain {} once, where the value goes');
  for (const element of [...arg.elements, config.off ?? '']) harmOf(element).forEach((problem) => add('', problem));
  if (config.off !== undefined && type !== 'switch') add('.off', 'is only valid for type switch');
  for (const bound of ['min', 'max', 'at_least'] as const)
    if (config[bound] !== undefined && !arg.isNumber) add(`.${bound}`, 'is only valid for type integer or number');
  if ((config.min ?? -Infinity) > (config.max ?? Infinity)) add('.min', 'must not be above max');
  if (config.at_least !== undefined && !args.some(({ name, isNumber }) => name === config.at_least && isNumber))
    add('.at_least', `must name another numeric argument of this engine, not ${config.at_least}`);
  if ((type === 'choice') !== (config.choices !== undefined))
    add('.choices', 'is required for type choice and only valid with it');
  if (config.max_bytes !== undefined && type !== 'json') add('.max_bytes', 'is only valid for type json');
  if (problems.length > 0) return problems;
  const values = { choices: config.choices, tune: config.tune, default: config.default };
  for (const [part, value] of Object.entries(values))
    [value].flat().forEach((one) => {
      const problem = one === undefined ? undefined : arg.problemOf(one);
      if (problem !== undefined) add(`.${part}`, `has ${JSON.stringify(one)}, which ${problem}`);
    });
  return problems;
}

/** Problems of the names of variables, for the operator's and the revision's variables alike. */
export function variableProblems(named: readonly [key: string, name: string][]): TemplateProblem[] {
  return named.flatMap(([key, name]) => reservedProblem(name).map((problem) => ({ key, problem })));
}

/** Problems of the texts of variables. */
export function environmentProblems(
  key: string,
  env: Record<string, string>,
  known: ReadonlySet<string>,
): TemplateProblem[] {
  return Object.entries(env).flatMap(([name, text]) => {
    const all = placeholderProblems(text, known);
    if (text.includes('\0')) all.push('must not contain NUL');
    return all.map((problem) => ({ key: `${key}.${name}`, problem }));
  });
}

/**
 * Problems of how the engine proves which model it has.
 * @param others placeholders that have a meaning there, in addition to the model's
 */
export function templateIdentityProblems(
  { identity = [], unknown_model: unknown = 'rejects' }: TemplateConfig,
  others: readonly string[] = [],
): TemplateProblem[] {
  const known = new Set([...others, ...MODEL_FIELDS.map((field) => `model.${field}`)]);
  const problems: TemplateProblem[] = [];
  identity.forEach((proof, index) => {
    if (typeof proof === 'string') return;
    for (const problem of placeholderProblems(proof.equals, known))
      problems.push({ key: `identity[${index}].equals`, problem });
  });
  if (unknown !== 'rejects' && identity.length === 0)
    problems.push({
      key: 'identity',
      problem: `must state how the engine proves which model it has, because unknown_model is ${unknown}; for example [models_list]`,
    });
  return problems;
}

/** Problems of the accelerators that the engine takes. */
export function gpuProblems({ gpus, command }: TemplateConfig): TemplateProblem[] {
  if (gpus && gpus.min > gpus.max) return [{ key: 'gpus.min', problem: 'must not be above max' }];
  if ((gpus?.min ?? 0) > 0) return [];
  return command.flatMap((element, index) =>
    !Array.isArray(element) && placeholdersIn(element).includes('gpu.count')
      ? [
          {
            key: `command[${index}]`,
            problem: 'must be a list, or gpus.min must be at least 1: {gpu.count} has no value without accelerators',
          },
        ]
      : [],
  );
}

function reservedProblem(name: string): string[] {
  if (name.startsWith('SLIPWAY_')) return [`must not be ${name}, which belongs to Slipway`];
  return Object.hasOwn(RESERVED, name) ? [`must not be ${name}: ${RESERVED[name]}`] : [];
}

function harmOf(element: string): string[] {
  const option = /^--?[A-Za-z][\w-]*/.exec(element)?.[0].replaceAll('_', '-') ?? '';
  return Object.hasOwn(HARMFUL, option) ? [`must not have ${option}: ${HARMFUL[option]}`] : [];
}

type Bag = Record<string, unknown>;

/**
 * Reports frequent mistakes in words of their own. It then deletes the key, so that the mistake is not reported again.
 * @param instead other keys that may replace a command, as the end of the message
 */
export function checkCommandShape(reader: ConfigReader, path: string, engine: Bag, instead = ''): void {
  const { command } = engine;
  if (command !== undefined && !Array.isArray(command)) {
    reader.fail(
      `${path}.command`,
      'must be a list with one word per element, as in [llama-server, "--port", "{port}"]',
    );
    delete engine['command'];
  } else if (command === undefined || (command as unknown[]).length === 0) {
    reader.fail(`${path}.command`, `must name a program, as in [llama-server, "--port", "{port}"]${instead}`);
    delete engine['command'];
  }
}

/** Names of arguments. Each becomes a key of revisions. */
export function checkArgNames(reader: ConfigReader, path: string, args: unknown): string[] {
  return Object.keys(Object(args) as Bag).filter((name) => {
    if (ARG_NAME.test(name)) return true;
    reader.fail(`${path}.args.${name}`, `is not a valid argument name (${ARG_NAME.source})`);
    return false;
  });
}
