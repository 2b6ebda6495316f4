import { MODEL_FIELDS, placeholdersIn } from '@slipway/target-driver';
import { declaredArgs, type DeclaredArg } from './engine-args.js';
import type { EngineConfig } from './engine-config.js';
import { sourceProblem } from './model-sources.js';
import { KNOWN_PLACEHOLDERS, placeholderProblems } from './placeholders.js';

export interface TemplateProblem {
  /** Within the engine. */
  key: string;
  problem: string;
}

/** Options that run a repository's code or a model's commands, that end the engine at anybody's word, or that log prompts. */
const HARMFUL: Record<string, string> = {
  '--trust-remote-code': 'it runs the code of the repository that a client names',
  '--tools': 'it lets a model run commands of the host',
  '--agent': 'it lets a model run commands of the host',
  '-ag': 'it lets a model run commands of the host',
  '--allow-terminate-by-client': 'it lets every client end the engine',
  '--enable-log-requests': 'it logs prompts',
  '--enable-log-outputs': 'it logs answers',
  '--log-requests': 'it logs prompts',
  '--log-prompts-dir': 'it writes prompts to files',
  '--crash-dump-folder': 'it writes prompts to files',
};
/** The same as variables. */
const RESERVED: Record<string, string> = {
  TRUST_REMOTE_CODE: 'it runs the code of the repository that a client names',
  LLAMA_ARG_TOOLS: 'it lets a model run commands of the host',
  LLAMA_ARG_AGENT: 'it lets a model run commands of the host',
};
const BEHIND_FOLDER = new Set(['home', 'instance.dir']);

/** What is wrong with an engine, by its key in the operator's file: what each alone is right for may be wrong together. */
export function templateProblems(config: EngineConfig): TemplateProblem[] {
  const known = new Set([...KNOWN_PLACEHOLDERS, ...(config.ports ?? []).map((name) => `port.${name}`)]);
  const args = declaredArgs(config);
  return [
    ...portProblems(config),
    ...commandProblems('command', config.command, known),
    ...(config.prefetch ? commandProblems('prefetch.command', config.prefetch.command, known) : []),
    ...args.flatMap((arg) => argProblems(arg, args)),
    ...environmentProblems(config, known),
    ...folderProblems(config),
    ...modelProblems(config),
    ...gpuProblems(config),
  ];
}

function portProblems({ command, env = {} }: EngineConfig): TemplateProblem[] {
  const [program] = command;
  if (program === undefined || program === '')
    return [{ key: 'command', problem: 'must name a program, as in [llama-server, "--port", "{port}"]' }];
  if ([...command.flat(), ...Object.values(env)].some((text) => placeholdersIn(text).includes('port'))) return [];
  return [
    { key: 'command', problem: 'must say with {port} where the engine is to listen, as in ["--port", "{port}"]' },
  ];
}

function commandProblems(key: string, command: EngineConfig['command'], known: ReadonlySet<string>): TemplateProblem[] {
  const problems = command.flatMap((element, index) =>
    [element].flat().flatMap((part) => {
      const all = [...placeholderProblems(part, known), ...harmOf(part)];
      return all.map((problem) => ({ key: `${key}[${index}]`, problem }));
    }),
  );
  const [program = ''] = command;
  const isFixed = !Array.isArray(program) && placeholderProblems(program, new Set()).length === 0;
  if (!isFixed) problems.push({ key: `${key}[0]`, problem: 'must name its program without placeholders' });
  return problems;
}

function argProblems(arg: DeclaredArg, args: readonly DeclaredArg[]): TemplateProblem[] {
  const { config, type } = arg;
  const problems: TemplateProblem[] = [];
  const add = (part: string, problem: string) => problems.push({ key: `args.${arg.name}${part}`, problem });
  const blanks = arg.elements.join('\n').split('{}').length - 1;
  if (arg.elements.length < 1 || arg.elements.length > 2) add('.arg', 'must have one or two elements');
  if (type === 'switch' && blanks > 0) add('', 'is a switch, so it must not contain {}');
  if (type !== 'switch' && blanks !== 1) add('', 'must contain {} once, where the value goes');
  for (const element of [...arg.elements, config.off ?? '']) harmOf(element).forEach((problem) => add('', problem));
  if (config.off !== undefined && type !== 'switch') add('.off', 'is for switches');
  for (const bound of ['min', 'max', 'at_least'] as const)
    if (config[bound] !== undefined && !arg.isNumber) add(`.${bound}`, 'is for numbers: type integer or number');
  if ((config.min ?? -Infinity) > (config.max ?? Infinity)) add('.min', 'must not be above max');
  if (config.at_least !== undefined && !args.some(({ name, isNumber }) => name === config.at_least && isNumber))
    add('.at_least', `must name another argument of this engine that is a number, not ${config.at_least}`);
  if ((type === 'choice') !== (config.choices !== undefined)) add('.choices', 'and type choice need each other');
  if (config.max_bytes !== undefined && type !== 'json') add('.max_bytes', 'is for JSON');
  if (problems.length > 0) return problems;
  const values = { choices: config.choices, tune: config.tune, default: config.default };
  for (const [part, value] of Object.entries(values))
    [value].flat().forEach((one) => {
      const problem = one === undefined ? undefined : arg.problemOf(one);
      if (problem !== undefined) add(`.${part}`, `has ${JSON.stringify(one)}, which ${problem}`);
    });
  return problems;
}

function environmentProblems(config: EngineConfig, known: ReadonlySet<string>): TemplateProblem[] {
  const { env = {}, secret_env: secrets = {}, env_allow: allowed = [], prefetch } = config;
  const named: [key: string, name: string][] = [
    ...allowed.map((name, index): [string, string] => [`env_allow[${index}]`, name]),
    ...Object.entries({
      env,
      secret_env: secrets,
      'prefetch.env': prefetch?.env,
      'prefetch.secret_env': prefetch?.secret_env,
    }).flatMap(([key, bag = {}]) => Object.keys(bag).map((name): [string, string] => [`${key}.${name}`, name])),
  ];
  const problems = named.flatMap(([key, name]) => reservedProblem(name).map((problem) => ({ key, problem })));
  for (const [key, bag] of Object.entries({ env, 'prefetch.env': prefetch?.env ?? {} }))
    for (const [name, text] of Object.entries(bag)) {
      const all = placeholderProblems(text, known);
      if (text.includes('\0')) all.push('must not contain NUL');
      problems.push(...all.map((problem) => ({ key: `${key}.${name}`, problem })));
    }
  for (const key of ['env', 'secret_env'] as const)
    if (Object.hasOwn(config[key] ?? {}, 'PATH'))
      problems.push({ key: `${key}.PATH`, problem: 'must not be set: path puts folders before it' });
  for (const name of Object.keys(secrets).filter((one) => Object.hasOwn(env, one)))
    problems.push({ key: `secret_env.${name}`, problem: 'is set by env as well' });
  return problems;
}

function reservedProblem(name: string): string[] {
  if (name.startsWith('SLIPWAY_')) return [`must not be ${name}, which belongs to Slipway`];
  return Object.hasOwn(RESERVED, name) ? [`must not be ${name}: ${RESERVED[name]}`] : [];
}

function folderProblems({ path = [], cwd }: EngineConfig): TemplateProblem[] {
  const folders: [key: string, folder: string, known: ReadonlySet<string>][] = [
    ...path.map((folder, index): [string, string, Set<string>] => [`path[${index}]`, folder, new Set(['home'])]),
    ...(cwd === undefined ? [] : [['cwd', cwd, BEHIND_FOLDER] as [string, string, ReadonlySet<string>]]),
  ];
  return folders.flatMap(([key, folder, known]) => {
    const problems = placeholderProblems(folder, known);
    if (!/^(\/|\{)/.test(folder)) problems.push('must be an absolute path');
    if (key !== 'cwd' && folder.includes(':')) problems.push('must be one folder, without ":"');
    return problems.map((problem) => ({ key, problem }));
  });
}

function modelProblems(config: EngineConfig): TemplateProblem[] {
  const { identity = [], unknown_model: unknown = 'rejects', model_sources: sources = [] } = config;
  const known = new Set(['home', ...MODEL_FIELDS.map((field) => `model.${field}`)]);
  const problems = sources.flatMap((pattern, index) => {
    const problem = sourceProblem(pattern);
    return problem === undefined ? [] : [{ key: `model_sources[${index}]`, problem }];
  });
  identity.forEach((proof, index) => {
    if (typeof proof === 'string') return;
    for (const problem of placeholderProblems(proof.equals, known))
      problems.push({ key: `identity[${index}].equals`, problem });
  });
  if (unknown !== 'rejects' && identity.length === 0)
    problems.push({
      key: 'identity',
      problem: `must say how the engine proves which model it has, for unknown_model is ${unknown}: as in [models_list]`,
    });
  return problems;
}

function gpuProblems({ gpus, command }: EngineConfig): TemplateProblem[] {
  if (gpus && gpus.min > gpus.max) return [{ key: 'gpus.min', problem: 'must not be above max' }];
  if ((gpus?.min ?? 0) > 0) return [];
  return command.flatMap((element, index) =>
    !Array.isArray(element) && placeholdersIn(element).includes('gpu.count')
      ? [
          {
            key: `command[${index}]`,
            problem: 'must be a list, or gpus.min 1, since {gpu.count} has no value without any',
          },
        ]
      : [],
  );
}

function harmOf(element: string): string[] {
  const option = /^--?[A-Za-z][\w-]*/.exec(element)?.[0].replaceAll('_', '-') ?? '';
  return Object.hasOwn(HARMFUL, option) ? [`must not have ${option}: ${HARMFUL[option]}`] : [];
}
