import {
  argProblems,
  commandProblems,
  declaredArgs,
  environmentProblems,
  gpuProblems,
  templateIdentityProblems,
  placeholderProblems,
  placeholdersIn,
  variableProblems,
  type TemplateProblem,
} from '@slipway/target-driver';
import { type EngineConfig, PROCESS_PLACEHOLDERS } from './engine-config.js';
import { sourceProblem } from './model-sources.js';

const BEHIND_FOLDER = new Set(['home', 'instance.dir']);

/**
 * Returns the problems of an engine, by key in the operator's file. Values that are valid alone may be invalid
 * together.
 */
export function templateProblems(config: EngineConfig): TemplateProblem[] {
  const known = new Set([...PROCESS_PLACEHOLDERS, ...(config.ports ?? []).map((name) => `port.${name}`)]);
  const args = declaredArgs(config);
  return [
    ...portProblems(config),
    ...commandProblems('command', config.command, known),
    ...(config.prefetch ? commandProblems('prefetch.command', config.prefetch.command, known) : []),
    ...args.flatMap((arg) => argProblems(arg, args)),
    ...variableNameProblems(config),
    ...environmentProblems('env', config.env ?? {}, known),
    ...environmentProblems('prefetch.env', config.prefetch?.env ?? {}, known),
    ...ownVariableProblems(config),
    ...folderProblems(config),
    ...sourceProblems(config),
    ...templateIdentityProblems(config, ['home']),
    ...gpuProblems(config),
  ];
}

function portProblems({ command, env = {} }: EngineConfig): TemplateProblem[] {
  const [program] = command;
  if (program === undefined || program === '')
    return [{ key: 'command', problem: 'must name a program, as in [llama-server, "--port", "{port}"]' }];
  if ([...command.flat(), ...Object.values(env)].some((text) => placeholdersIn(text).includes('port'))) return [];
  return [{ key: 'command', problem: 'must pass {port} to the engine, as in ["--port", "{port}"]' }];
}

function variableNameProblems({
  env = {},
  secret_env: secrets = {},
  env_allow: allowed = [],
  prefetch,
}: EngineConfig): TemplateProblem[] {
  const named: [key: string, name: string][] = [
    ...allowed.map((name, index): [string, string] => [`env_allow[${index}]`, name]),
    ...Object.entries({
      env,
      secret_env: secrets,
      'prefetch.env': prefetch?.env,
      'prefetch.secret_env': prefetch?.secret_env,
    }).flatMap(([key, bag = {}]) => Object.keys(bag).map((name): [string, string] => [`${key}.${name}`, name])),
  ];
  return variableProblems(named);
}

function ownVariableProblems({ env = {}, secret_env: secrets = {} }: EngineConfig): TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  for (const key of ['env', 'secret_env'] as const)
    if (Object.hasOwn({ env, secret_env: secrets }[key], 'PATH'))
      problems.push({ key: `${key}.PATH`, problem: 'must not be set: use path to put folders before it' });
  for (const name of Object.keys(secrets).filter((one) => Object.hasOwn(env, one)))
    problems.push({ key: `secret_env.${name}`, problem: 'is also set in env' });
  return problems;
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

function sourceProblems({ model_sources: sources = [] }: EngineConfig): TemplateProblem[] {
  return sources.flatMap((pattern, index) => {
    const problem = sourceProblem(pattern);
    return problem === undefined ? [] : [{ key: `model_sources[${index}]`, problem }];
  });
}
