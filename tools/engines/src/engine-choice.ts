import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parseOperatorConfig, resolveSecret } from '@slipway/platform-config';
import { endpointTarget } from '@slipway/target-endpoint';
import { builtInEngines, fillHome, processTarget, type ProcessTargetConfig } from '@slipway/target-process';
import { UsageError, type TryOptions } from './options.js';

export interface ChosenEngine {
  target: ProcessTargetConfig;
  /** Returns the value of a secret in the file. @throws Error if the file has no such secret */
  secret?: (name: string) => string;
}

/** Where the person typed the command, and the installation whose file is tried. */
export interface Surroundings {
  /** npm runs its scripts in the folder of the clone. */
  cwd: string;
  /** SLIPWAY_HOME, if it is set. */
  home?: string;
}

/** The paths of the command line as absolute ones. A model that is no file here stays the name of a hub. */
export function located(options: TryOptions, { cwd, home }: Surroundings): TryOptions {
  const absolute = (file: string): string => resolve(cwd, file);
  const { config, model, program } = options;
  const isFile = !isAbsolute(model.uri) && existsSync(absolute(model.uri));
  const file = config === undefined ? undefined : absolute(config);
  const ofFile = file === undefined ? undefined : (home ?? join(dirname(file), '.slipway'));
  return {
    ...options,
    ...(isFile && { model: { ...model, uri: absolute(model.uri) } }),
    ...(program?.includes('/') && { program: absolute(program) }),
    ...(file !== undefined && { config: file }),
    ...(ofFile !== undefined && { installation: absolute(options.home ?? ofFile) }),
  };
}

/**
 * The target with the engine to try, read as a worker reads it.
 * @throws OperatorConfigError if no worker would start with the file
 * @throws UsageError if the file cannot be read, or has no such engine
 */
export async function chooseEngine(options: TryOptions): Promise<ChosenEngine> {
  const { engine, config, target, program } = options;
  if (config === undefined) return { target: builtInAlone(options) };
  const file = parseOperatorConfig(await textOf(config), [processTarget, endpointTarget]);
  const secret = (name: string) => resolveSecret(file, name);
  const known = file.targets.filter(({ kind }) => kind === processTarget.kind) as ProcessTargetConfig[];
  const found = known.filter(({ name, engines }) => Object.hasOwn(engines, engine) && (target ?? name) === name);
  if (found.length === 0) throw new UsageError(`${config} has no process target with an engine named ${engine}`);
  if (found.length > 1) throw new UsageError(`${config} has ${engine} in several targets: choose one with --target`);
  const [chosen] = found as [ProcessTargetConfig];
  const one = ofInstallation(chosen.engines[engine]!, options.installation);
  const replaced = program === undefined ? one : { ...one, command: [program, ...one.command.slice(1)] };
  return { target: { ...chosen, engines: { ...chosen.engines, [engine]: replaced } }, secret };
}

async function textOf(config: string): Promise<string> {
  try {
    return await readFile(config, 'utf8');
  } catch (error) {
    throw new UsageError(`--config ${config} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * An engine that is given a missing file starts, and fails with words of its own.
 * @throws UsageError if the model is a file that does not exist
 */
export function assertModelExists({ model: { uri } }: TryOptions): void {
  if ((isAbsolute(uri) || /\.gguf$/i.test(uri)) && !existsSync(uri))
    throw new UsageError(`--model ${uri}: there is no such file or folder on this host`);
}

/** The models of the file are those of its installation. The trial itself has a folder of its own. */
function ofInstallation<Engine extends { model_sources?: string[] }>(engine: Engine, home: string | undefined): Engine {
  if (home === undefined || engine.model_sources === undefined) return engine;
  return { ...engine, model_sources: fillHome(engine.model_sources, home) };
}

/**
 * The `sources` of the template limit clients. They need not limit a person who names the model on the command line.
 */
function builtInAlone({ engine, model, program }: TryOptions): ProcessTargetConfig {
  const known = new Set(builtInEngines().flatMap(({ template }) => [template!, template!.split('@')[0]!]));
  if (!known.has(engine))
    throw new UsageError(`unknown built-in template ${engine}; the templates are ${[...known].join(', ')}`);
  const sources = model.uri.startsWith('/') ? [model.uri] : [`hf:${model.uri}`];
  const entry = { extends: engine, model_sources: sources, ...(program !== undefined && { program }) };
  const file = { targets: [{ name: 'trial', kind: processTarget.kind, engines: { [engine]: entry } }] };
  const { targets } = parseOperatorConfig(JSON.stringify(file), [processTarget]);
  return targets[0] as ProcessTargetConfig;
}
