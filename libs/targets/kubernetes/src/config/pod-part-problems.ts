import type { TemplateProblem } from '@slipway/target-driver';
import { ENGINE_CONTAINER } from '../manifests/unit-kind.js';
import { isBag } from '../manifests/pod-merge.js';
import {
  identitiesOf,
  isHostProcess,
  isUnmasked,
  NODE_FIELDS,
  refusedCapabilities,
} from '../manifests/pod-protection.js';
import { LABEL, OURS } from '../manifests/unit-names.js';
import type { PodPart } from '../target-config.js';

type Bag = Record<string, unknown>;
type PodPartKey = 'pod' | 'worker_pod';

/** Fields that Slipway fills from other keys, and that a part of the template would overwrite. */
const ELSEWHERE: Record<string, string> = {
  image: 'use image of the engine instead',
  command: 'use command of the engine instead',
  args: 'use command and args of the engine instead',
  startupProbe: 'it is derived from ready and from the probes of a revision',
  readinessProbe: 'it is derived from live and from the probes of a revision',
  livenessProbe: 'it is derived from live and from the probes of a revision',
};
const POD_ELSEWHERE: Record<string, string> = {
  terminationGracePeriodSeconds: 'it is derived from stop.grace_seconds',
  restartPolicy: 'the cluster always restarts engines that end',
  ephemeralContainers: 'a pod template cannot have ephemeral containers',
  nodeName:
    'the scheduler chooses nodes; limit its choice with node_selector of an accelerator or with nodeSelector here',
};
const NAMED_LISTS = ['containers', 'initContainers', 'volumes'] as const;
const PORT_NAME = 'http';

/**
 * Problems of a part of a pod template that the operator wrote. It refuses text that cannot be part of a pod, fields
 * that other keys set, and fields that would undo the protection of every engine. The API server judges everything
 * else.
 * @param taken names of variables that the engine's own keys set or let a revision set
 */
export function podPartProblems(key: PodPartKey, part: PodPart, taken: readonly string[]): TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const add = (path: string, problem: string) => problems.push({ key: path === '' ? key : `${key}.${path}`, problem });
  for (const name of Object.keys(part))
    if (name !== 'metadata' && name !== 'spec') add(name, 'is not a part of a pod template; use metadata or spec');
  for (const name of ['metadata', 'spec'] as const)
    if (part[name] !== undefined && !isBag(part[name])) add(name, 'must be a mapping');
  if (problems.length > 0) return problems;
  metadataProblems(part.metadata ?? {}, add);
  specProblems(part.spec ?? {}, taken, add);
  return problems;
}

type ProblemSink = (path: string, problem: string) => void;

function metadataProblems(metadata: Bag, add: ProblemSink): void {
  const ours = (name: string) =>
    name.startsWith(`${OURS}/`) || [LABEL.managedBy, LABEL.name].some((label) => label === name);
  for (const [key, value] of Object.entries(metadata)) {
    if (key !== 'labels' && key !== 'annotations')
      add(`metadata.${key}`, 'must not be set; only labels and annotations are allowed');
    else if (!isBag(value)) add(`metadata.${key}`, 'must be a mapping');
    else
      for (const [name, text] of Object.entries(value)) {
        if (ours(name)) add(`metadata.${key}.${name}`, 'must not be set: Slipway uses it to find its own objects');
        if (typeof text !== 'string') add(`metadata.${key}.${name}`, `must be text: put it in quotes`);
      }
  }
}

function specProblems(spec: Bag, taken: readonly string[], add: ProblemSink): void {
  for (const [key, why] of Object.entries(POD_ELSEWHERE))
    if (isSet(spec[key])) add(`spec.${key}`, `must not be set: ${why}`);
  if (spec['automountServiceAccountToken'] === true)
    add('spec.automountServiceAccountToken', "must not be true: engines run clients' models and get no token");
  if (spec['enableServiceLinks'] === true)
    add('spec.enableServiceLinks', 'must not be true: variables of other Services would be added to the environment');
  for (const key of NODE_FIELDS)
    if (spec[key] === true) add(`spec.${key}`, 'must not be true: engines must not see processes of their node');
  contextProblems('spec.securityContext', spec['securityContext'], add);
  for (const list of NAMED_LISTS) {
    const path = `spec.${list}`;
    if (spec[list] === undefined || !hasNames(path, spec[list], add)) continue;
    if (list === 'volumes') {
      volumeProblems(path, spec[list] as Bag[], add);
      continue;
    }
    (spec[list] as Bag[]).forEach((container, index) => {
      const at = `${path}[${index}]`;
      containerProblems(at, container, add);
      if (container['name'] !== ENGINE_CONTAINER) return;
      if (list === 'initContainers')
        add(`${at}.name`, `must not be ${ENGINE_CONTAINER}, which is the name of the container that serves the model`);
      else engineProblems(at, container, taken, add);
    });
  }
}

function volumeProblems(path: string, volumes: readonly Bag[], add: ProblemSink): void {
  volumes.forEach((volume, at) => {
    for (const [index, source] of identitiesOf(volume))
      add(
        `${path}[${at}].projected.sources[${index}].${source}`,
        "must not be set: engines run clients' models and get no token",
      );
  });
}

function containerProblems(at: string, { securityContext: context }: Bag, add: ProblemSink): void {
  contextProblems(`${at}.securityContext`, context, add);
  for (const capability of refusedCapabilities(context))
    add(
      `${at}.securityContext.capabilities.add`,
      `must not have ${String(capability)}: engines must not gain privileges`,
    );
  if (isUnmasked(context)) add(`${at}.securityContext.procMount`, 'must be Default: engines must not gain privileges');
  if (!isBag(context)) return;
  for (const key of ['privileged', 'allowPrivilegeEscalation'])
    if (context[key] === true)
      add(`${at}.securityContext.${key}`, 'must not be true: engines must not gain privileges');
}

function engineProblems(at: string, engine: Bag, taken: readonly string[], add: ProblemSink): void {
  for (const [key, why] of Object.entries(ELSEWHERE))
    if (isSet(engine[key])) add(`${at}.${key}`, `must not be set: ${why}`);
  const { lifecycle, env, ports } = engine;
  if (isBag(lifecycle) && isSet(lifecycle['preStop']))
    add(
      `${at}.lifecycle.preStop`,
      'must not be set: Slipway uses it to keep an engine running until the gateways know that it stops',
    );
  if (isSet(env) && hasNames(`${at}.env`, env, add))
    (env as Bag[]).forEach(({ name }, index) => {
      const own = `${at}.env[${index}].name`;
      if (String(name).startsWith('SLIPWAY_')) add(own, `must not be ${String(name)}, which belongs to Slipway`);
      if (taken.includes(String(name)))
        add(own, `must not be ${String(name)}, which is already in env, env_allow or key_env of the engine`);
    });
  if (isSet(ports) && hasNames(`${at}.ports`, ports, add))
    (ports as Bag[]).forEach(({ name }, index) => {
      if (name === PORT_NAME)
        add(`${at}.ports[${index}].name`, 'must not be http, which is the name of the port of the engine');
    });
}

/** Problems of a security context of a pod or a container. */
function contextProblems(at: string, context: unknown, add: ProblemSink): void {
  if (isHostProcess(context))
    add(`${at}.windowsOptions.hostProcess`, 'must not be true: engines must not gain privileges');
  if (!isBag(context) || !isBag(context['seccompProfile'])) return;
  if (context['seccompProfile']['type'] === 'Unconfined')
    add(
      `${at}.seccompProfile.type`,
      'must not be Unconfined: use RuntimeDefault, or Localhost with a profile of your own',
    );
}

/** List items are merged by their names, so each needs a name of its own. */
function hasNames(path: string, value: unknown, add: ProblemSink): boolean {
  if (!Array.isArray(value)) {
    add(path, 'must be a list');
    return false;
  }
  const seen = new Set<unknown>();
  const problems = value.flatMap((one: unknown, index) => {
    const name = isBag(one) ? one['name'] : undefined;
    if (typeof name !== 'string' || name === '') return [[`${path}[${index}].name`, 'is required']];
    if (seen.has(name)) return [[`${path}[${index}].name`, `repeats ${name}`]];
    seen.add(name);
    return [];
  });
  for (const [at, problem] of problems) add(at!, problem!);
  return problems.length === 0;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
