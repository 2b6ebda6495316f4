import { isMisspelling, keysOf, merged, NAME, readAs, type ConfigReader } from '@slipway/platform-config';
import { checkArgNames, checkCommandShape } from '@slipway/target-driver';
import { builtIn, BUILT_IN_DEFAULTS, builtInNames } from './builtin/index.js';
import { DEFAULT_PROBE } from './engine-template.js';
import type { EngineConfig, SecretRef } from './engine-config.js';
import { PROCESS_ENGINE, ENGINE_DEFAULTS } from './engine-schema.js';
import { templateProblems } from './template-problems.js';

type Bag = Record<string, unknown>;

/** Reads the settings of all engines of a target. Problems are reported once, and not again for each engine. */
export function readEngineDefaults(reader: ConfigReader, path: string, value: unknown): Bag {
  if (value === undefined) return {};
  const before = reader.problems.length;
  const read = readAs(reader, path, value, ENGINE_DEFAULTS) as Bag;
  return reader.problems.length === before ? read : {};
}

/** Reads one entry of `engines`: the template it extends and the target's defaults, changed by its own keys. */
export function readProcessEngine(
  reader: ConfigReader,
  path: string,
  { name, value, defaults }: { name: string; value: unknown; defaults: Bag },
): EngineConfig {
  if (!NAME.test(name)) reader.fail(path, `is not a valid engine name (${NAME.source})`);
  const before = reader.problems.length;
  const { extends: extended, program, ...written } = reader.map(path, value, keysOf(PROCESS_ENGINE));
  const template = extended === undefined ? undefined : templateOf(reader, path, name, extended);
  const base = template ? merged(merged(BUILT_IN_DEFAULTS, defaults), template) : defaults;
  const whole = merged(base, written) as Bag;
  if (program !== undefined) replaceProgram(reader, path, whole, { program, isExtended: extended !== undefined });
  checkShapes(reader, path, whole);
  // Its own unknown keys are already reported.
  const known = Object.fromEntries(Object.entries(whole).filter(([key]) => keysOf(PROCESS_ENGINE).includes(key)));
  const read = readAs(reader, path, known, PROCESS_ENGINE) as Partial<EngineConfig>;
  const engine = {
    ...read,
    command: read.command ?? [],
    args: read.args ?? {},
    env_allow: read.env_allow ?? [],
    ready: readyOf(read.ready),
    ...(template && { template: template.template }),
  };
  if (reader.problems.length > before) return engine;
  for (const { key, problem } of templateProblems(engine)) reader.fail(`${path}.${key}`, problem);
  nameSecrets(reader, `${path}.secret_env`, engine.secret_env);
  nameSecrets(reader, `${path}.prefetch.secret_env`, engine.prefetch?.secret_env);
  return engine;
}

function templateOf(reader: ConfigReader, path: string, name: string, extended: unknown) {
  const wanted = extended === 'builtin' ? name : extended;
  const template = typeof wanted === 'string' ? builtIn(wanted) : undefined;
  if (template) return template;
  const known = builtInNames();
  const meant = known.find((one) => isMisspelling(String(wanted), one));
  reader.fail(
    `${path}.extends`,
    `must be a built-in template, not ${String(wanted)}${meant === undefined ? '' : `; did you mean ${meant}?`} (known: ${known.join(', ')})`,
  );
  return undefined;
}

function replaceProgram(
  reader: ConfigReader,
  path: string,
  engine: Bag,
  { program, isExtended }: { program: unknown; isExtended: boolean },
): void {
  const { command } = engine;
  if (!isExtended)
    reader.fail(
      `${path}.program`,
      'is only valid for an engine that extends a template; put the program first in command',
    );
  else if (typeof program !== 'string' || program === '') reader.fail(`${path}.program`, 'must be a non-empty string');
  else if (Array.isArray(command)) engine['command'] = [program, ...command.slice(1)];
}

function checkShapes(reader: ConfigReader, path: string, engine: Bag): void {
  checkCommandShape(reader, path, engine, ', or set extends to a template');
  const args = Object(engine['args']) as Bag;
  for (const name of checkArgNames(reader, path, args)) {
    const declared = args[name];
    if (typeof declared === 'string' && declared.split('{}').length !== 2)
      reader.fail(
        `${path}.args.${name}`,
        'must contain {} once, where the value goes; an argument without a value is {arg: "--x", type: switch}',
      );
  }
}

function readyOf({ path, timeout_seconds, while_starting, ...rest }: NonNullable<EngineConfig['ready']> = {}) {
  return {
    path: path ?? DEFAULT_PROBE.path,
    timeout_seconds: timeout_seconds ?? DEFAULT_PROBE.timeoutSeconds,
    // YAML reads a value without quotes as a number.
    ...(while_starting !== undefined && { while_starting: String(while_starting) as typeof while_starting }),
    ...rest,
  };
}

function nameSecrets(reader: ConfigReader, path: string, secrets: Record<string, SecretRef> = {}): void {
  for (const [variable, { secret: name }] of Object.entries(secrets))
    reader.secretsNamed.push({ path: `${path}.${variable}.secret`, name });
}
