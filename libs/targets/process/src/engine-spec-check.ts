import { MODEL_FIELDS, placeholdersIn, type InstanceSpec, type SpecIssue } from '@slipway/target-driver';
import { textProblem, type DeclaredArg } from './engine-args.js';
import type { EngineConfig } from './engine-config.js';
import { placeholdersOf } from './engine-traits.js';
import type { ModelSources } from './model-sources.js';

/** An engine as a spec is checked against it. */
export interface CheckedEngine {
  name: string;
  config: EngineConfig;
  args: readonly DeclaredArg[];
  /** Undefined where the operator names none. */
  sources?: ModelSources;
}

/** Every rule of its engine that a spec breaks. Pure: no file, no network. */
export function specIssues(engine: CheckedEngine, spec: InstanceSpec): SpecIssue[] {
  return [
    ...modelIssues(engine, spec),
    ...argIssues(engine, spec),
    ...environmentIssues(engine, spec),
    ...gpuIssues(engine, spec),
  ];
}

function modelIssues({ name: engine, config, sources }: CheckedEngine, { model }: InstanceSpec): SpecIssue[] {
  const { prefetch, command } = config;
  const all = [config, ...(prefetch ? [prefetch] : [])];
  const used = new Set(all.flatMap((one) => [...placeholdersOf(one)]));
  const isRequired = (name: string) =>
    [...command, ...(prefetch?.command ?? [])].some((one) => !Array.isArray(one) && placeholdersIn(one).includes(name));
  return MODEL_FIELDS.flatMap((field): SpecIssue[] => {
    const name = `model.${field}`;
    const value = model[field];
    if (!used.has(name)) return [];
    if (value === undefined || value === '')
      return isRequired(name) ? [{ field: name, code: 'required', message: `engine "${engine}" needs it` }] : [];
    const issues = issueOf(name, textProblem(value, true));
    const refusal = field === 'uri' && issues.length === 0 ? sources?.problemOf(value) : undefined;
    return refusal === undefined ? issues : [{ field: name, code: 'not_allowed', message: refusal }];
  });
}

function argIssues({ name: engine, args }: CheckedEngine, { runtime }: InstanceSpec): SpecIssue[] {
  const issues = Object.entries(runtime.args).flatMap(([name, value]): SpecIssue[] => {
    const field = `runtime.args.${name}`;
    const arg = args.find((one) => one.name === name);
    if (arg) return issueOf(field, arg.problemOf(value));
    const names = args.map((one) => one.name).join(', ') || 'none';
    const message = `engine "${engine}" does not declare this argument; it declares: ${names}`;
    return [{ field, code: 'not_declared', message }];
  });
  return issues.length > 0 ? issues : orderIssues(args, runtime.args);
}

/** What may not be below another, once each is right by itself. */
function orderIssues(args: readonly DeclaredArg[], given: InstanceSpec['runtime']['args']): SpecIssue[] {
  const valueOf = (name: string) =>
    Object.hasOwn(given, name) ? given[name] : args.find((one) => one.name === name)?.config.default;
  return args.flatMap(({ name, config: { at_least: other } }): SpecIssue[] => {
    if (other === undefined) return [];
    const [value, least] = [valueOf(name), valueOf(other)];
    if (value === undefined || least === undefined || value >= least) return [];
    const field = `runtime.args.${Object.hasOwn(given, name) ? name : other}`;
    return issueOf(field, `would make ${name} (${value}) less than ${other} (${least})`);
  });
}

function environmentIssues({ name: engine, config }: CheckedEngine, { runtime }: InstanceSpec): SpecIssue[] {
  const allowed = config.env_allow ?? [];
  return Object.entries(runtime.env).flatMap(([name, value]): SpecIssue[] => {
    const field = `runtime.env.${name}`;
    if (!allowed.includes(name))
      return [{ field, code: 'not_allowed', message: `engine "${engine}" does not accept this variable` }];
    const isText = typeof value === 'string' && !value.includes('\0');
    return issueOf(field, isText ? undefined : 'must be text without NUL');
  });
}

function gpuIssues({ name: engine, config: { gpus } }: CheckedEngine, { resources }: InstanceSpec): SpecIssue[] {
  const count = resources?.count;
  if (!gpus || count === undefined || (count >= gpus.min && count <= gpus.max)) return [];
  const range = gpus.min === gpus.max ? `${gpus.min}` : `from ${gpus.min} to ${gpus.max}`;
  return issueOf('resources.count', `must be ${range} for engine "${engine}"`);
}

function issueOf(field: string, problem: string | undefined): SpecIssue[] {
  return problem === undefined ? [] : [{ field, code: 'invalid_value', message: problem }];
}
