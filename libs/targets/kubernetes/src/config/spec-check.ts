import {
  argIssues,
  declaredArgs,
  engineIssue,
  environmentIssues,
  instanceIssues,
  modelIssues,
  valueIssue,
  type InstanceSpec,
  type InstanceSpecIssue,
} from '@slipway/target-driver';
import type { KubernetesEngine, KubernetesTargetConfig } from '../target-config.js';
import { resourceIssues } from '../manifests/unit-resources.js';

/** Limit of one value. The API server limits the whole pod. */
const LONGEST_VARIABLE = 32_768;
/** More digits do not fit into a unit's name. */
const LARGEST_GENERATION = 9_999_999;
const LARGEST_ORDINAL = 9_999;
const SECRET_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const SECRET_KEY = /^[-._a-zA-Z0-9]{1,253}$/;

/**
 * Every rule of a target that a spec breaks. A revision sets the model if the command has a placeholder for it,
 * declared arguments, allowed variables, resources within `allow`, its scaling and the pace of its probes. It never
 * sets anything else of a pod. Pure.
 */
export function kubernetesSpecIssues(spec: InstanceSpec, config: KubernetesTargetConfig): InstanceSpecIssue[] {
  const name = spec.runtime.engine ?? '';
  const engine = Object.hasOwn(config.engines, name) ? config.engines[name] : undefined;
  const own = [...instanceIssues(config.name, spec), ...nameIssues(spec)];
  if (!engine) return [...own, engineIssue(config.name, Object.keys(config.engines), spec)];
  const checked = { name, config: engine, args: declaredArgs(engine) };
  const { worker_command: worker } = engine;
  return [
    ...own,
    ...modelIssues(checked, spec, { filled: worker ? [{ command: worker }] : [] }),
    ...argIssues(checked, spec),
    ...environmentIssues(checked, spec),
    ...variableIssues(name, engine, spec),
    ...resourceIssues({ name, engine }, config, spec),
    ...replicaIssues(name, engine, spec),
  ];
}

function nameIssues({ generation, owner }: InstanceSpec): InstanceSpecIssue[] {
  return [
    ...valueIssue(
      'generation',
      generation > LARGEST_GENERATION ? `must not be above ${LARGEST_GENERATION}` : undefined,
    ),
    ...valueIssue(
      'ordinal',
      owner && !(Number.isSafeInteger(owner.ordinal) && owner.ordinal >= 0 && owner.ordinal <= LARGEST_ORDINAL)
        ? `must be a whole number from 0 to ${LARGEST_ORDINAL}`
        : undefined,
    ),
  ];
}

function variableIssues(
  name: string,
  { env_allow: allowed }: KubernetesEngine,
  { runtime }: InstanceSpec,
): InstanceSpecIssue[] {
  const { env, envRefs = {} } = runtime;
  const long = Object.entries(env).flatMap(([variable, value]) =>
    valueIssue(
      `runtime.env.${variable}`,
      typeof value === 'string' && value.length > LONGEST_VARIABLE
        ? `may not be longer than ${LONGEST_VARIABLE} characters`
        : undefined,
    ),
  );
  const referred = Object.entries(envRefs).flatMap(([variable, { secret, key }]): InstanceSpecIssue[] => {
    const field = `runtime.env.${variable}`;
    if (!allowed.includes(variable))
      return [{ field, code: 'not_allowed', message: `engine "${name}" does not accept this variable` }];
    const isName = SECRET_NAME.test(secret) && SECRET_KEY.test(key);
    return valueIssue(field, isName ? undefined : 'refers to a secret whose name or key is not valid in Kubernetes');
  });
  return [...long, ...referred];
}

function replicaIssues(
  name: string,
  { allow }: KubernetesEngine,
  { owner, scaling }: InstanceSpec,
): InstanceSpecIssue[] {
  const { max_replicas: most } = allow;
  if (most === undefined) return [];
  const message = `must not be above ${most} for engine "${name}"`;
  const asked = {
    min_replicas: scaling?.min_replicas ?? 0,
    max_replicas: Math.max(scaling?.max_replicas ?? 0, (owner?.ordinal ?? 0) + 1),
  };
  return (['min_replicas', 'max_replicas'] as const).flatMap((key) =>
    valueIssue(`scaling.${key}`, asked[key] > most ? message : undefined),
  );
}
