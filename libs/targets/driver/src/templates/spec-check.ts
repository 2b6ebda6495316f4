import type { InstanceSpec, InstanceSpecIssue } from '../driver.js';
import { MODEL_FIELDS, placeholdersIn } from './placeholders.js';
import { textProblem, type DeclaredArg } from './declared-arg.js';
import type { TemplateConfig } from './template-config.js';
import { placeholdersOf } from './template-traits.js';

/** Of a target or an instance: it becomes a part of names that others read. */
export const SAFE_NAME = /^[A-Za-z0-9_-]{1,128}$/;
const PATH = /^\/[\x21-\x7e]*$/;

/** Every rule that a spec breaks on any target that starts its servers itself, whichever engine it names. */
export function instanceIssues(target: string, spec: InstanceSpec): InstanceSpecIssue[] {
  const issues: InstanceSpecIssue[] = [];
  if (!SAFE_NAME.test(spec.instanceId))
    issues.push({ field: 'instance_id', code: 'invalid_value', message: 'must match [A-Za-z0-9_-]{1,128}' });
  if (!Number.isSafeInteger(spec.generation) || spec.generation < 1)
    issues.push({ field: 'generation', code: 'invalid_value', message: 'must be a positive integer' });
  if (spec.endpoint)
    issues.push({ field: 'endpoint', code: 'not_applicable', message: `target "${target}" starts its servers itself` });
  if (spec.probe.path !== undefined && !PATH.test(spec.probe.path)) {
    const message = 'must begin with "/" and consist of visible ASCII characters';
    issues.push({ field: 'probes.path', code: 'invalid_value', message });
  }
  return issues;
}

/** That a spec names no engine of its target. */
export function engineIssue(target: string, engines: Iterable<string>, { runtime }: InstanceSpec): InstanceSpecIssue {
  const code = runtime.engine === undefined ? 'required' : 'unknown';
  return { field: 'runtime.engine', code, message: `target "${target}" has the engines: ${[...engines].join(', ')}` };
}

/** An engine as a spec is checked against it. */
export interface CheckedTemplate {
  name: string;
  config: TemplateConfig;
  args: readonly DeclaredArg[];
}

/** What fills blanks beside the engine's own command and variables. */
type TemplatePart = Pick<TemplateConfig, 'command' | 'env'>;

/**
 * What is wrong with the model of a spec.
 * @param more what else is started with it, and who says more of `model.uri` than that it is a text
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
      return isRequired(name) ? [{ field: name, code: 'required', message: `engine "${engine}" needs it` }] : [];
    const issues = valueIssue(name, textProblem(value, true));
    const refusal = field === 'uri' && issues.length === 0 ? more.refusalOf?.(value) : undefined;
    return refusal === undefined ? issues : [{ field: name, code: 'not_allowed', message: refusal }];
  });
}

/** What is wrong with the arguments of a spec. */
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

/** What may not be below another, once each is right by itself. */
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

/** What is wrong with the variables of a spec. */
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

/** What is wrong with the number of accelerators that a spec asks for. */
export function gpuIssues(
  { name: engine, config: { gpus } }: CheckedTemplate,
  { resources }: Pick<InstanceSpec, 'resources'>,
): InstanceSpecIssue[] {
  const count = resources?.count;
  if (!gpus || count === undefined || (count >= gpus.min && count <= gpus.max)) return [];
  const range = gpus.min === gpus.max ? `${gpus.min}` : `from ${gpus.min} to ${gpus.max}`;
  return valueIssue('resources.count', `must be ${range} for engine "${engine}"`);
}

/** A value that is wrong, unless nothing is wrong with it. */
export function valueIssue(field: string, problem: string | undefined): InstanceSpecIssue[] {
  return problem === undefined ? [] : [{ field, code: 'invalid_value', message: problem }];
}
