import {
  argProblems,
  commandProblems,
  declaredArgs,
  environmentProblems,
  gpuProblems,
  templateIdentityProblems,
  placeholdersIn,
  variableProblems,
  type TemplateProblem,
} from '@slipway/target-driver';
import { KUBERNETES_PLACEHOLDERS } from './kubernetes-engine-schema.js';
import { podPartProblems } from './pod-part-problems.js';
import type { Accelerator, KubernetesEngine } from '../target-config.js';

/** Problems of an engine, by its keys in the operator's file. Keys that are valid alone may be invalid together. */
export function engineProblems(engine: KubernetesEngine): TemplateProblem[] {
  const args = declaredArgs(engine);
  const { command, worker_command: worker, env, env_allow: allowed, pod, worker_pod: workerPod } = engine;
  const taken = [...Object.keys(env), ...allowed];
  return [
    ...programProblems('command', command),
    ...commandProblems('command', command, KUBERNETES_PLACEHOLDERS),
    ...(worker
      ? [
          ...programProblems('worker_command', worker),
          ...commandProblems('worker_command', worker, KUBERNETES_PLACEHOLDERS),
        ]
      : []),
    ...args.flatMap((arg) => argProblems(arg, args)),
    ...variableProblems([
      ...Object.keys(env).map((name): [string, string] => [`env.${name}`, name]),
      ...allowed.map((name, index): [string, string] => [`env_allow[${index}]`, name]),
    ]),
    ...environmentProblems('env', env, KUBERNETES_PLACEHOLDERS),
    ...keyProblems(engine),
    ...expansionProblems(engine),
    ...templateIdentityProblems(engine),
    ...gpuProblems(engine),
    ...unitProblems(engine),
    ...amountProblems(engine),
    ...spreadProblems(engine),
    ...podPartProblems('pod', pod, taken),
    ...podPartProblems('worker_pod', workerPod, taken),
  ];
}

function programProblems(key: string, [program]: KubernetesEngine['command']): TemplateProblem[] {
  if (program !== undefined && program !== '') return [];
  return [{ key, problem: 'must name a program, as in [llama-server, "--port", "{port}"]' }];
}

/** A client that sets the variable of the key decides whose requests are answered. */
function keyProblems({ env, env_allow: allowed }: KubernetesEngine): TemplateProblem[] {
  return allowed.flatMap((name, index) => {
    const isKey = Object.hasOwn(env, name) && placeholdersIn(env[name]!).includes('instance_key');
    return isKey
      ? [{ key: `env_allow[${index}]`, problem: `must not be ${name}, which passes the key to the engine` }]
      : [];
  });
}

/**
 * The kubelet replaces `$(NAME)` by variables. Values are written so that it does not do so in them. The operator's own
 * text may use such references, but must not make a reference from a value.
 */
function expansionProblems({
  command,
  worker_command: worker = [],
  env,
  args,
  allow,
}: KubernetesEngine): TemplateProblem[] {
  const texts: [key: string, text: string][] = [
    ...command.flatMap((one, index) => [one].flat().map((text): [string, string] => [`command[${index}]`, text])),
    ...worker.flatMap((one, index) => [one].flat().map((text): [string, string] => [`worker_command[${index}]`, text])),
    ...Object.entries(env).map(([name, text]): [string, string] => [`env.${name}`, text]),
    ...Object.entries(args).flatMap(([name, { arg }]) =>
      [arg].flat().map((text): [string, string] => [`args.${name}`, text]),
    ),
    ...(allow.count_arg ?? []).map((text): [string, string] => ['allow.count.arg', text]),
  ];
  return texts.flatMap(([key, text]) =>
    isReferenceMadeOfValues(text)
      ? [
          {
            key,
            problem:
              'must not have "$" or an open "$(" before a value, because the value would become the name of a variable',
          },
        ]
      : [],
  );
}

function isReferenceMadeOfValues(text: string): boolean {
  const before = text.split(/\{(?:[a-z][a-z_.]*)?\}/).slice(0, -1);
  // An open parenthesis also counts if a blank follows it.
  return before.some((part) => part.endsWith('$') || /\$\([^)]*$/.test(part));
}

/** Problems of the limits for what a revision of the engine may request. */
export function allowanceProblems(
  { allow, gpus, command, env }: KubernetesEngine,
  accelerators: Record<string, Accelerator>,
): TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const known = Object.keys(accelerators);
  allow.accelerators.forEach((name, index) => {
    const key = `allow.accelerators[${index}]`;
    if (!Object.hasOwn(accelerators, name))
      problems.push({
        key,
        problem: `must be one of the accelerators of the target (${known.join(', ') || 'it has none'})`,
      });
    else if (accelerators[name]!.max_count < (gpus?.min ?? 1))
      problems.push({
        key,
        problem: `has at most ${accelerators[name]!.max_count} on a node, but the engine requires at least ${gpus?.min}`,
      });
    if (allow.accelerators.indexOf(name) !== index) problems.push({ key, problem: `repeats ${name}` });
  });
  if (gpus && gpus.min > 0 && allow.accelerators.length === 0)
    problems.push({
      key: 'allow.accelerators',
      problem: 'must name the accelerators that the engine runs on, because gpus.min is above 0',
    });
  const { count_arg: elements } = allow;
  if (elements && elements.join('\n').split('{}').length !== 2)
    problems.push({ key: 'allow.count.arg', problem: 'must contain {} once, where the number goes' });
  const names = [...command.flat(), ...Object.values(env)].flatMap(placeholdersIn);
  if (names.includes('gpu.count') && !gpus)
    problems.push({ key: 'allow.accelerators', problem: 'must name the accelerators that {gpu.count} counts' });
  return problems;
}

/** The API server refuses each pod whose container requests more than its limit. */
function amountProblems({ resources: { requests = {}, limits = {} } }: KubernetesEngine): TemplateProblem[] {
  return Object.entries(requests).flatMap(([name, amount]) => {
    const limit = Object.hasOwn(limits, name) ? limits[name]! : undefined;
    if (limit === undefined || numberOf(amount) <= numberOf(limit)) return [];
    return [{ key: `resources.requests.${name}`, problem: `is ${amount}, above limits.${name} (${limit})` }];
  });
}

const UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** The number that a quantity of Kubernetes means: `500m`, `48Gi`. */
function numberOf(quantity: string): number {
  const [, digits = '0', unit = ''] = /^([\d.]{1,30})([A-Za-z]*)$/.exec(quantity) ?? [];
  if (unit === 'm') return Number(digits) / 1_000;
  const isBinary = unit.endsWith('i');
  const power = UNITS.indexOf(isBinary ? unit.slice(0, -1).replace('K', 'k') : unit);
  return Number(digits) * (isBinary ? 1_024 : 1_000) ** power;
}

function unitProblems({ unit, worker_command: worker, worker_pod: pod }: KubernetesEngine): TemplateProblem[] {
  if (unit.kind === 'leaderworkerset') return [];
  const problem = 'is only valid for groups: unit.kind leaderworkerset';
  return [
    ...(worker ? [{ key: 'worker_command', problem }] : []),
    ...(Object.keys(pod).length > 0 ? [{ key: 'worker_pod', problem }] : []),
  ];
}

/** The operator's list would replace the constraint that `hard` consists of. */
function spreadProblems({ spread, pod }: KubernetesEngine): TemplateProblem[] {
  if (spread !== 'hard' || pod.spec?.['topologySpreadConstraints'] === undefined) return [];
  return [
    {
      key: 'spread',
      problem: 'must not be hard in addition to pod.spec.topologySpreadConstraints, which replaces its constraint',
    },
  ];
}
