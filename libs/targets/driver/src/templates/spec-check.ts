import type { ArgValue, EngineArg, IdentityProof } from '@slipway/contracts';
import { isMisspelling } from '@slipway/platform-config';
import type { EngineTraits, InstanceSpec, InstanceSpecIssue } from '../driver.js';
import type { ArgConfig, LiveConfig, TemplateConfig } from './template-config.js';

export const MODEL_FIELDS = ['id', 'uri', 'revision', 'format', 'quantization'] as const;

const PLACEHOLDER = /\{([a-z][a-z_.]*)\}/g;

/** Values of placeholders. A placeholder without a value has no entry. */
export type PlaceholderValues = ReadonlyMap<string, string>;

/** The placeholder names in `{…}`. The content of JSON braces is not a name. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!);
}

/** Undefined if a placeholder has no value. Values are literal: a placeholder inside a value is not filled. */
export function fillPlaceholders(text: string, values: PlaceholderValues): string | undefined {
  if (placeholdersIn(text).some((name) => !values.has(name))) return undefined;
  return text.replace(PLACEHOLDER, (_all, name: string) => values.get(name)!);
}

/** The model fields that a spec sets, with names such as `model.uri`. */
export function modelValues({ model }: Pick<InstanceSpec, 'model'>): [name: string, value: string][] {
  return MODEL_FIELDS.flatMap((field): [string, string][] => {
    const value = model[field];
    return value === undefined || value === '' ? [] : [[`model.${field}`, value]];
  });
}

/** The proofs that can be checked, filled in. A proof that uses a value which the spec leaves open proves nothing. */
export function provableIdentity(identity: readonly IdentityProof[], values: PlaceholderValues): IdentityProof[] {
  return identity.flatMap((proof): IdentityProof[] => {
    if (typeof proof === 'string') return [proof];
    const equals = fillPlaceholders(proof.equals, values);
    return equals === undefined ? [] : [{ ...proof, equals }];
  });
}

/** Includes misspelled placeholders, and excludes the content of JSON braces. */
const MEANT_AS_PLACEHOLDER = /\{(\s*[A-Za-z][\w.-]*\s*)\}/g;

/** The elements of a command line. A list of elements is left out if one of them has no value. */
export function fillCommand(command: readonly (string | string[])[], values: PlaceholderValues): string[] {
  return command.flatMap((element) => {
    const parts = [element].flat().map((part) => fillPlaceholders(part, values));
    return parts.every((part) => part !== undefined) ? parts : [];
  });
}

/** The filled variables, without those that have no value. */
export function fillEnvironment(env: Record<string, string>, values: PlaceholderValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => {
      const value = fillPlaceholders(text, values);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Problems of the placeholders in a text, one line for each that has no meaning there. */
export function placeholderProblems(text: string, known: ReadonlySet<string>): string[] {
  return [...text.matchAll(MEANT_AS_PLACEHOLDER)]
    .map((match) => match[1]!)
    .filter((name) => !known.has(name))
    .map((name) => unknownPlaceholder(name, [...known]));
}

function unknownPlaceholder(name: string, known: string[]): string {
  const meant = known.find((one) => isMisspelling(name.trim(), one));
  const hint = meant === undefined ? '' : `; did you mean {${meant}}?`;
  if (known.length === 0) return `uses {${name}}, but placeholders have no value here`;
  return `uses the unknown placeholder {${name}}${hint} (known: ${known.map((one) => `{${one}}`).join(' ')})`;
}

/** NUL cannot be passed on. A line break is never needed in an argument and would forge log lines. */
const CONTROL = /[\0\r\n]/;
const MAX_VALUE_LENGTH = 8_192;
const MAX_JSON_BYTES = 8_192;
const DEFAULT_JSON_BYTES = 2_048;

/**
 * An argument that a revision may set. A value stays within the declared elements and never becomes an option of its
 * own.
 */
export class DeclaredArg {
  readonly type: NonNullable<ArgConfig['type']>;
  readonly elements: readonly string[];

  constructor(
    readonly name: string,
    readonly config: ArgConfig,
  ) {
    this.elements = [config.arg].flat();
    this.type = config.type ?? (this.elements.some((one) => one.includes('{}')) ? 'string' : 'switch');
  }

  get isNumber(): boolean {
    return this.type === 'integer' || this.type === 'number';
  }

  /** A description for people and tuners. It leaves out what the operator wrote for the command line. */
  describe(): EngineArg {
    const { min, max, at_least, default: preset, choices, tune, quality, reason } = this.config;
    return {
      name: this.name,
      type: this.type === 'switch' ? 'boolean' : this.type,
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
      ...(at_least === undefined ? {} : { at_least }),
      ...(preset === undefined ? {} : { default: preset }),
      ...(choices === undefined ? {} : { choices }),
      ...(tune === undefined ? {} : { tune }),
      ...(quality ? { quality } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** The problem of a value, as words that follow the name of the field. Undefined if the value is valid. */
  problemOf(value: unknown): string | undefined {
    const { type } = this;
    if (type === 'switch') return typeof value === 'boolean' ? undefined : 'must be true or false';
    if (this.isNumber) return this.numberProblem(value);
    if (type === 'json') return this.jsonProblem(value);
    const { choices = [] } = this.config;
    if (type === 'choice' && !choices.includes(value as ArgValue)) return `must be one of ${choices.join(', ')}`;
    return textProblem(value, this.beginsElement);
  }

  /**
   * The elements for a valid value or, without a value, for the default.
   * @param written converts the text of a value to its spelling in the element
   */
  elementsFor(given: ArgValue | undefined, written = (text: string) => text): string[] {
    const value = given ?? this.config.default;
    if (value === undefined) return [];
    if (this.type === 'switch') {
      if (value === true) return [...this.elements];
      return this.config.off === undefined ? [] : [this.config.off];
    }
    const text = this.type === 'json' ? (compactJson(value) ?? '') : String(value);
    // The replacement is a function, because `$&` in a string would be expanded.
    return this.elements.map((element) => element.replace('{}', () => written(text)));
  }

  /** Whether the value comes first in its element. There a leading `-` would make it an option. */
  private get beginsElement(): boolean {
    return this.elements.some((element) => element.startsWith('{}'));
  }

  private numberProblem(value: unknown): string | undefined {
    const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = this.config;
    const isOne = this.type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    const bounds = [
      ...(this.config.min === undefined ? [] : [`at least ${min}`]),
      ...(this.config.max === undefined ? [] : [`at most ${max}`]),
    ];
    if (isOne && (value as number) >= min && (value as number) <= max) return undefined;
    return `must be a ${this.type === 'integer' ? 'whole' : 'finite'} number${bounds.length > 0 ? `, ${bounds.join(' and ')}` : ''}`;
  }

  private jsonProblem(value: unknown): string | undefined {
    const limit = Math.min(this.config.max_bytes ?? DEFAULT_JSON_BYTES, MAX_JSON_BYTES);
    if (typeof value !== 'string' || Buffer.byteLength(value) > limit)
      return `must be a JSON object or list as text, at most ${limit} bytes`;
    if (compactJson(value) === undefined) return 'must be a JSON object or list as text';
    return undefined;
  }
}

/** The arguments of an engine, in the order in which they are appended. */
export function declaredArgs({ args = {} }: Pick<TemplateConfig, 'args'>): DeclaredArg[] {
  return Object.entries(args).map(
    ([name, config]) => new DeclaredArg(name, typeof config === 'string' ? { arg: config } : config),
  );
}

/**
 * The problem of a text in an element of a command line; undefined if there is none.
 * @param beginsElement whether the text comes first in its element
 */
export function textProblem(value: unknown, beginsElement: boolean): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be a finite number';
  if (!['string', 'number', 'boolean'].includes(typeof value)) return 'must be text, a number or a boolean';
  const text = String(value);
  if (beginsElement && text.startsWith('-')) return 'may not begin with "-"';
  if (CONTROL.test(text)) return 'may not contain NUL or line breaks';
  if (text.length > MAX_VALUE_LENGTH) return `may not be longer than ${MAX_VALUE_LENGTH} characters`;
  return undefined;
}

/**
 * Serializes JSON again, so that it has no line break and begins with a brace or a bracket. Undefined if the value is
 * not an object or list.
 */
function compactJson(value: unknown): string | undefined {
  try {
    const parsed: unknown = JSON.parse(String(value));
    return parsed !== null && typeof parsed === 'object' ? JSON.stringify(parsed) : undefined;
  } catch {
    // JSON that is too deep for the stack also gets here.
    return undefined;
  }
}

/** Applies if an engine sets no time limit for its first answer. */
export const DEFAULT_READY_SECONDS = 60;

/** The traits of an engine that callers need, except the number of its accelerators and whether it needs a key. */
export function templateTraits(
  template: TemplateConfig,
  values: PlaceholderValues,
  args: InstanceSpec['runtime']['args'],
): Omit<EngineTraits, 'gpus' | 'isKeyed' | 'memoryFreeWithinSeconds'> {
  const {
    serves = ['chat'],
    unknown_model: unknownModel = 'rejects',
    identity = [],
    cache_salt: hasCacheSalt = false,
  } = template;
  const { live, ready, stop } = template;
  const contextLength = contextLengthOf(template, args);
  return {
    serves,
    unknownModel,
    identity: provableIdentity(identity, values),
    hasCacheSalt,
    readyTimeoutSeconds: ready?.timeout_seconds ?? DEFAULT_READY_SECONDS,
    ...(contextLength !== undefined && { contextLength }),
    ...(live && { live: liveOf(live) }),
    drain: stop?.drain ?? 'gateway',
  };
}

/** The tokens of one request: some engines share theirs among the requests that they serve concurrently. */
function contextLengthOf(
  { context, args: declared = {} }: TemplateConfig,
  args: InstanceSpec['runtime']['args'],
): number | undefined {
  if (!context) return undefined;
  const numberOf = (name: string): number => {
    const argument = declared[name];
    return Number(args[name] ?? (typeof argument === 'object' ? argument.default : undefined));
  };
  const tokens = numberOf(context.arg);
  const sharers = context.shared_by === undefined ? 1 : numberOf(context.shared_by);
  return tokens > 0 && sharers > 0 ? Math.floor(tokens / sharers) : undefined;
}

const placeholders = new WeakMap<object, ReadonlySet<string>>();

/**
 * All placeholders that a start fills in. Every rollout needs them; they are read once, because a template never
 * changes.
 */
export function placeholdersOf(template: Pick<TemplateConfig, 'command' | 'env'>): ReadonlySet<string> {
  const { command, env = {} } = template;
  const found =
    placeholders.get(template) ?? new Set([...command.flat(), ...Object.values(env)].flatMap(placeholdersIn));
  placeholders.set(template, found);
  return found;
}

/** The same settings under the names that a driver's callers use. */
export function liveOf(live: LiveConfig): NonNullable<EngineTraits['live']> {
  const { path, interval_seconds, timeout_seconds, failure_threshold } = live;
  return {
    ...(path !== undefined && { path }),
    ...(interval_seconds !== undefined && { intervalSeconds: interval_seconds }),
    ...(timeout_seconds !== undefined && { timeoutSeconds: timeout_seconds }),
    ...(failure_threshold !== undefined && { failureThreshold: failure_threshold }),
  };
}

/** The name of a target or an instance. It becomes part of names that others read. */
export const SAFE_NAME = /^[A-Za-z0-9_-]{1,128}$/;
const PATH = /^\/[\x21-\x7e]*$/;

/** Every rule that a spec breaks on any target that starts its servers itself, for every engine. */
export function instanceIssues(target: string, spec: InstanceSpec): InstanceSpecIssue[] {
  const issues: InstanceSpecIssue[] = [];
  if (!SAFE_NAME.test(spec.instanceId))
    issues.push({ field: 'instance_id', code: 'invalid_value', message: 'must match [A-Za-z0-9_-]{1,128}' });
  if (!Number.isSafeInteger(spec.generation) || spec.generation < 1)
    issues.push({ field: 'generation', code: 'invalid_value', message: 'must be a positive integer' });
  if (spec.endpoint)
    issues.push({
      field: 'endpoint',
      code: 'not_applicable',
      message: `must be omitted: target "${target}" starts its servers itself`,
    });
  if (spec.probe.path !== undefined && !PATH.test(spec.probe.path)) {
    const message = 'must begin with "/" and consist of visible ASCII characters';
    issues.push({ field: 'probes.path', code: 'invalid_value', message });
  }
  return issues;
}

/** The issue of a spec that names no engine of its target. */
export function engineIssue(target: string, engines: Iterable<string>, { runtime }: InstanceSpec): InstanceSpecIssue {
  const code = runtime.engine === undefined ? 'required' : 'unknown';
  return { field: 'runtime.engine', code, message: `target "${target}" has the engines: ${[...engines].join(', ')}` };
}

/** An engine, as far as the check of a spec needs it. */
export interface CheckedTemplate {
  name: string;
  config: TemplateConfig;
  args: readonly DeclaredArg[];
}

/** A further part whose placeholders are filled, in addition to the engine's own command and variables. */
type TemplatePart = Pick<TemplateConfig, 'command' | 'env'>;

/**
 * Issues of the model of a spec.
 * @param more further parts that are started with it, and an additional check of `model.uri`
 */
export function modelIssues(
  { name: engine, config }: CheckedTemplate,
  { model }: Pick<InstanceSpec, 'model'>,
  more: { filled?: readonly TemplatePart[]; refusalOf?: (uri: string) => string | undefined } = {},
): InstanceSpecIssue[] {
  const all = [config, ...(more.filled ?? [])];
  const used = new Set(all.flatMap((one) => [...placeholdersOf(one)]));
  const isRequired = (name: string) =>
    all.some(({ command }) => command.some((one) => !Array.isArray(one) && placeholdersIn(one).includes(name)));
  return MODEL_FIELDS.flatMap((field): InstanceSpecIssue[] => {
    const name = `model.${field}`;
    const value = model[field];
    if (!used.has(name)) return [];
    if (value === undefined || value === '')
      return isRequired(name) ? [{ field: name, code: 'required', message: `is required by engine "${engine}"` }] : [];
    const issues = valueIssue(name, textProblem(value, true));
    const refusal = field === 'uri' && issues.length === 0 ? more.refusalOf?.(value) : undefined;
    return refusal === undefined ? issues : [{ field: name, code: 'not_allowed', message: refusal }];
  });
}

/** Issues of the arguments of a spec. */
export function argIssues(
  { name: engine, args }: CheckedTemplate,
  { runtime }: Pick<InstanceSpec, 'runtime'>,
): InstanceSpecIssue[] {
  const issues = Object.entries(runtime.args).flatMap(([name, value]): InstanceSpecIssue[] => {
    const field = `runtime.args.${name}`;
    const arg = args.find((one) => one.name === name);
    if (arg) return valueIssue(field, arg.problemOf(value));
    const names = args.map((one) => one.name).join(', ') || 'none';
    const message = `engine "${engine}" does not declare this argument; it declares: ${names}`;
    return [{ field, code: 'not_declared', message }];
  });
  return issues.length > 0 ? issues : orderIssues(args, runtime.args);
}

/** Issues of values that are below another argument. Checked once each value is valid by itself. */
function orderIssues(args: readonly DeclaredArg[], given: InstanceSpec['runtime']['args']): InstanceSpecIssue[] {
  const valueOf = (name: string) =>
    Object.hasOwn(given, name) ? given[name] : args.find((one) => one.name === name)?.config.default;
  return args.flatMap(({ name, config: { at_least: other } }): InstanceSpecIssue[] => {
    if (other === undefined) return [];
    const [value, least] = [valueOf(name), valueOf(other)];
    if (value === undefined || least === undefined || value >= least) return [];
    const field = `runtime.args.${Object.hasOwn(given, name) ? name : other}`;
    return valueIssue(field, `would make ${name} (${value}) less than ${other} (${least})`);
  });
}

/** Issues of the variables of a spec. */
export function environmentIssues(
  { name: engine, config }: CheckedTemplate,
  { runtime }: Pick<InstanceSpec, 'runtime'>,
): InstanceSpecIssue[] {
  const allowed = config.env_allow ?? [];
  return Object.entries(runtime.env).flatMap(([name, value]): InstanceSpecIssue[] => {
    const field = `runtime.env.${name}`;
    if (!allowed.includes(name))
      return [{ field, code: 'not_allowed', message: `engine "${engine}" does not accept this variable` }];
    const isText = typeof value === 'string' && !value.includes('\0');
    return valueIssue(field, isText ? undefined : 'must be text without NUL');
  });
}

/** Issues of the number of accelerators that a spec requests. */
export function gpuIssues(
  { name: engine, config: { gpus } }: CheckedTemplate,
  { resources }: Pick<InstanceSpec, 'resources'>,
): InstanceSpecIssue[] {
  const count = resources?.count;
  if (!gpus || count === undefined || (count >= gpus.min && count <= gpus.max)) return [];
  const range = gpus.min === gpus.max ? `${gpus.min}` : `from ${gpus.min} to ${gpus.max}`;
  return valueIssue('resources.count', `must be ${range} for engine "${engine}"`);
}

/** The issue of an invalid value; none if there is no problem. */
export function valueIssue(field: string, problem: string | undefined): InstanceSpecIssue[] {
  return problem === undefined ? [] : [{ field, code: 'invalid_value', message: problem }];
}
