import {
  declaredArgs,
  DEFAULT_READY_SECONDS,
  fillPlaceholders,
  fillCommand,
  fillEnvironment,
  InvalidSpecError,
  modelValues,
  placeholdersOf,
  SAFE_NAME,
  TargetConfigError,
  type DeclaredArg,
  type EngineDescription,
  type EngineTraits,
  type InstanceSpec,
  type MetricsConfig,
  type PlaceholderValues,
  type InstanceSpecIssue,
  templateTraits,
  argIssues,
  environmentIssues,
  gpuIssues,
  modelIssues,
  type CheckedTemplate,
  engineIssue,
  instanceIssues as ownIssues,
} from '@slipway/target-driver';
import type { EngineConfig, LimitsConfig, ReadyConfig, StopConfig } from './engine-config.js';
import type { HostNeeds } from '../host/programs.js';
import type { EngineProbe } from '../instances/instance-folder.js';
import { fillHome, ModelSources } from './model-sources.js';
import { templateProblems } from './template-problems.js';

/** The default for an engine that does not say how its health is checked. */
export const DEFAULT_PROBE: EngineProbe = { path: '/health', timeoutSeconds: DEFAULT_READY_SECONDS };

/**
 * With this variable setproctitle does not overwrite the environment, which identifies the processes of an instance.
 */
const ENVIRONMENT = { SPT_NOENV: '1' };

/** The part of a start that only the host can supply. */
export interface EngineAllocation {
  port: number;
  /** By the names of `portNames`. */
  ports?: Readonly<Record<string, number>>;
  /** Absolute folder of the instance, which the engine may write. */
  folder: string;
}

/** How an engine is started. */
export interface EngineLaunch {
  /** Program and arguments. */
  command: string[];
  /**
   * The variables that the template sets: they override PATH, HOME and LANG, and the spec overrides them. Without
   * `secretEnv`.
   */
  env: Record<string, string>;
  /** Maps variables to the names of the operator's secrets with their values, which are never written to disk. */
  secretEnv: Record<string, string>;
  /** Folders that precede PATH. */
  path: string[];
  /** Undefined: the worker's. */
  cwd?: string;
  /** Operating-system user; undefined: the worker's. */
  user?: string;
  limits: LimitsConfig;
}

/** The step before a start that fetches the model, with the user and the limits of the engine. */
export interface EnginePrefetch extends EngineLaunch {
  timeoutSeconds: number;
}

/** How an engine is stopped. */
export interface EngineStop {
  signal: NonNullable<StopConfig['signal']>;
  to: NonNullable<StopConfig['to']>;
  /** Seconds from the signal to SIGKILL; undefined: the target's. */
  graceSeconds?: number;
  drain: NonNullable<StopConfig['drain']>;
  memoryFreeWithinSeconds: number;
}

/**
 * An engine's command with its placeholders. A client can only fill placeholders: each value stays within the elements
 * that are declared for it, no shell reads it, and none becomes an option of its own.
 */
export class EngineTemplate {
  /** The problems of the configuration; the template is usable if there are none. */
  readonly problems: string[];
  /** Settings that are allowed but not recommended, for the operator. */
  readonly warnings: string[];
  /** The ports that it needs in addition to its first. */
  readonly portNames: readonly string[];
  readonly args: DeclaredArg[];
  readonly sources?: ModelSources;
  private readonly isKeyed: boolean;

  /** `home` is the absolute folder that `{home}` means. */
  constructor(
    readonly name: string,
    readonly config: EngineConfig,
    private readonly home: string,
  ) {
    this.args = declaredArgs(config);
    this.portNames = config.ports ?? [];
    this.isKeyed = placeholdersOf(config).has('instance_key');
    const { model_sources: sources } = config;
    if (sources) this.sources = new ModelSources(fillHome(sources, home));
    this.problems = templateProblems(config).map(({ key, problem }) => `engine "${name}": ${key} ${problem}`);
    this.warnings = openTemplateWarnings(name, config, this.args);
  }

  get probe(): EngineProbe {
    const { path, timeout_seconds: timeoutSeconds } = this.config.ready ?? {};
    return { path: path ?? DEFAULT_PROBE.path, timeoutSeconds: timeoutSeconds ?? DEFAULT_PROBE.timeoutSeconds };
  }

  /**
   * The answers that count as loading, and the line that it logs when it is up; undefined if the template does not say.
   */
  get loading(): { while: ReadyConfig['while_starting']; log: ReadyConfig['log'] } {
    return { while: this.config.ready?.while_starting, log: this.config.ready?.log };
  }

  get stop(): EngineStop {
    const { signal, to, drain, grace_seconds: graceSeconds, memory_free_within_seconds: back } = this.config.stop ?? {};
    return {
      signal: signal ?? 'SIGTERM',
      to: to ?? 'leader',
      drain: drain ?? 'gateway',
      memoryFreeWithinSeconds: back ?? 30,
      ...(graceSeconds !== undefined && { graceSeconds }),
    };
  }

  /** The names of the operator's secrets that it gets, also in the step that fetches its model. */
  get secretNames(): string[] {
    const { secret_env: own, prefetch } = this.config;
    return [own, prefetch?.secret_env].flatMap((secrets) => Object.values(secretsByVariable(secrets)));
  }

  get metrics(): MetricsConfig | undefined {
    return this.config.metrics;
  }

  describe(): EngineDescription {
    const { template, env_allow: env = [] } = this.config;
    return {
      name: this.name,
      args: this.args.map(({ name }) => name),
      env: [...env],
      declared: this.args.map((arg) => arg.describe()),
      ...(template !== undefined && { template }),
    };
  }

  traits(spec: InstanceSpec): EngineTraits {
    return processEngineTraits(this.config, spec, this.home);
  }

  /** Pure: reads no file and no network. */
  check(spec: InstanceSpec): InstanceSpecIssue[] {
    return processSpecIssues(this, spec);
  }

  /**
   * Called before a start, for a spec that `check` accepted. @throws InvalidSpecError if a symbolic link leads to a
   * model that is not allowed
   */
  async assertModelFile({ model: { uri } }: InstanceSpec): Promise<void> {
    const message = uri === undefined ? undefined : await this.sources?.linkProblemOf(uri);
    if (message !== undefined) throw new InvalidSpecError([{ field: 'model.uri', code: 'not_allowed', message }]);
  }

  /**
   * Returns how to start a spec that `check` accepted.
   * @throws Error if the engine needs a key and the caller gave none, or if there are fewer devices than it needs
   */
  launch(spec: InstanceSpec, allocation: EngineAllocation): EngineLaunch {
    const { gpus, command } = this.config;
    const count = spec.devices?.length ?? 0;
    if (this.isKeyed && spec.instanceKey === undefined)
      throw new Error(`engine "${this.name}" requires {instance_key}, but no key was given`);
    if (gpus && count < gpus.min)
      throw new Error(`engine "${this.name}" requires at least ${gpus.min} devices, but got ${count}`);
    const values = this.values(spec, allocation);
    const { args: given } = spec.runtime;
    const args = this.args.flatMap((arg) =>
      arg.elementsFor(Object.hasOwn(given, arg.name) ? given[arg.name] : undefined),
    );
    return { ...this.around(values), command: [...commandOf(command, values), ...args] };
  }

  /** Returns the files that a start needs on the host. */
  needs(spec: InstanceSpec, allocation: EngineAllocation): HostNeeds {
    const values = this.values(spec, allocation);
    const { path, cwd } = this.around(values);
    const { uri } = spec.model;
    const isRead = uri?.startsWith('/') && placeholdersOf(this.config).has('model.uri');
    return {
      program: commandOf([this.config.command[0]!], values)[0]!,
      path,
      ...(cwd !== undefined && { cwd }),
      ...(isRead && { modelFile: uri }),
    };
  }

  /**
   * Returns the step that must run before the start of a spec that `check` accepted, if any. There is none for a model
   * that is a path.
   */
  prefetch(spec: InstanceSpec, allocation: EngineAllocation): EnginePrefetch | undefined {
    const { prefetch } = this.config;
    // A path exists or does not; only models of a hub can be fetched.
    if (!prefetch || spec.model.uri?.startsWith('/')) return undefined;
    const values = this.values(spec, allocation);
    const { env, secretEnv, ...around } = this.around(values);
    return {
      ...around,
      command: commandOf(prefetch.command, values),
      env: { ...env, ...fillEnvironment(prefetch.env ?? {}, values) },
      secretEnv: { ...secretEnv, ...secretsByVariable(prefetch.secret_env) },
      timeoutSeconds: prefetch.timeout_seconds,
    };
  }

  private around(values: PlaceholderValues): Omit<EngineLaunch, 'command'> {
    const { env = {}, secret_env: secrets, path = [], cwd, user, limits = {}, gpus } = this.config;
    return {
      env: {
        ...ENVIRONMENT,
        ...(gpus && { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: values.get('gpu.indices')! }),
        ...fillEnvironment(env, values),
      },
      secretEnv: secretsByVariable(secrets),
      path: path.map((one) => fillPlaceholders(one, values)!),
      limits,
      ...(cwd !== undefined && { cwd: fillPlaceholders(cwd, values)! }),
      ...(user !== undefined && { user }),
    };
  }

  private values(spec: InstanceSpec, { port, ports = {}, folder }: EngineAllocation): PlaceholderValues {
    const devices = spec.devices ?? [];
    const values = new Map([
      ...modelValues(spec),
      ['port', String(port)],
      ['home', this.home],
      ['instance.dir', folder],
    ]);
    for (const name of this.portNames) values.set(`port.${name}`, String(ports[name]));
    // Also set without devices, because without CUDA_VISIBLE_DEVICES an engine sees all of them. A part of a divided
    // card has no index of its own.
    values.set('gpu.indices', devices.map(({ uuid, index }) => (uuid.startsWith('MIG-') ? uuid : index)).join(','));
    if (devices.length > 0) values.set('gpu.count', String(devices.length));
    if (spec.instanceKey !== undefined) values.set('instance_key', spec.instanceKey);
    return values;
  }
}

/** Reads the engines of a target, by name. @throws TargetConfigError that names every problem */
export function readTemplates(
  { name, engines }: { name: string; engines: Record<string, EngineConfig> },
  home: string,
): ReadonlyMap<string, EngineTemplate> {
  const templates = Object.entries(engines).map(([engine, config]) => new EngineTemplate(engine, config, home));
  const problems = templates.flatMap((template) => template.problems);
  if (!SAFE_NAME.test(name)) problems.push('its name must consist of letters, digits, "_" and "-"');
  if (templates.length === 0) problems.push('it has no engines');
  if (problems.length > 0) throw new TargetConfigError(name, problems);
  return new Map(templates.map((template) => [template.name, template]));
}

const MEDIA_OPTION = '--allowed-media-domains';

/** Warns of a template that lets clients name what the operator may not have meant to allow. */
function openTemplateWarnings(name: string, config: EngineConfig, args: readonly DeclaredArg[]): string[] {
  const warnings: string[] = [];
  if (!config.model_sources && placeholdersOf(config).has('model.uri'))
    warnings.push(
      `engine "${name}" has no model_sources: model.uri of a revision may name everything that the engine can read`,
    );
  const limit = args.find(({ elements }) => elements.some((one) => one.startsWith(MEDIA_OPTION)));
  const isLimited =
    limit?.config.default !== undefined || config.command.flat().some((one) => one.startsWith(MEDIA_OPTION));
  if (config.template?.startsWith('vllm@') && !isLimited)
    warnings.push(
      `engine "${name}" fetches media from every host that a request names: give allowed_media_domains a default, or write ${MEDIA_OPTION} into command`,
    );
  return warnings;
}

function commandOf(command: EngineConfig['command'], values: PlaceholderValues): string[] {
  const [program, ...rest] = fillCommand(command, values);
  return [program === 'node' ? process.execPath : program!, ...rest];
}

function secretsByVariable(secrets: EngineConfig['secret_env'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([variable, { secret }]) => [variable, secret]));
}

/** Returns what callers must know about the engine of a spec. @param home the folder that `{home}` means */
function processEngineTraits(
  config: EngineConfig,
  spec: Pick<InstanceSpec, 'model' | 'runtime'>,
  home: string,
): EngineTraits {
  const { gpus, stop } = config;
  return {
    ...templateTraits(config, new Map([...modelValues(spec), ['home', home]]), spec.runtime.args),
    ...(gpus && { gpus, memoryFreeWithinSeconds: stop?.memory_free_within_seconds ?? 30 }),
    isKeyed: placeholdersOf(config).has('instance_key'),
  };
}

/** The parts of an engine that the check of a spec needs. */
interface CheckedEngine extends CheckedTemplate {
  config: EngineConfig;
  /** Undefined if the operator names none. */
  sources?: ModelSources;
}

/** Returns every rule of its engine that a spec breaks. Pure: reads no file and no network. */
function processSpecIssues(engine: CheckedEngine, spec: InstanceSpec): InstanceSpecIssue[] {
  const { config, sources } = engine;
  return [
    ...modelIssues(engine, spec, {
      filled: config.prefetch ? [config.prefetch] : [],
      refusalOf: (uri) => sources?.problemOf(uri),
    }),
    ...argIssues(engine, spec),
    ...environmentIssues(engine, spec),
    ...gpuIssues(engine, spec),
  ];
}

/** Returns every rule of the target that a spec breaks, with those of the engine that it names. */
export function processInstanceIssues(
  target: string,
  templates: ReadonlyMap<string, EngineTemplate>,
  spec: InstanceSpec,
): InstanceSpecIssue[] {
  const engine = templates.get(spec.runtime.engine ?? '');
  return [...ownIssues(target, spec), ...(engine?.check(spec) ?? [engineIssue(target, templates.keys(), spec)])];
}
