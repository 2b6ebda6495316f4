import { effectiveScaling, endpointUrls, type RevisionSpec } from '@slipway/contracts';
import type { SecretReference } from '@slipway/platform-config';
import type { EngineTraits, InstanceSpec, TargetDriver } from '@slipway/target-driver';
import type { Target } from './target-catalog.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';

/** Where a spec leaves the pace of probes open: a crash is seen within a second, illness within about three. */
export const PROBE_DEFAULTS = { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 };

/** The operator's secrets by their names, for one use. */
export interface SecretReader {
  /** Its value now. `sentTo` is the URL it goes to, if it goes to one. */
  value(name: string, sentTo?: string): string;
  /** Where the target finds it by itself; undefined for one that has a value here. */
  reference(name: string): SecretReference | undefined;
}

/** For checks and looks that need no secret: a driver checks the shape of an environment, only a start passes it on. */
export const placeholderSecrets: SecretReader = { value: () => 'secret', reference: () => undefined };

export function probeOf(spec: RevisionSpec): InstanceSpec['probe'] {
  const {
    path,
    interval_seconds: interval,
    timeout_seconds: timeout,
    failure_threshold: threshold,
  } = spec.probes ?? {};
  const said = { intervalSeconds: interval, timeoutSeconds: timeout, failureThreshold: threshold };
  const names = ['intervalSeconds', 'timeoutSeconds', 'failureThreshold'] as const;
  return {
    ...(path === undefined ? {} : { path }),
    set: names.filter((name) => said[name] !== undefined),
    intervalSeconds: interval ?? PROBE_DEFAULTS.intervalSeconds,
    timeoutSeconds: timeout ?? PROBE_DEFAULTS.timeoutSeconds,
    failureThreshold: threshold ?? PROBE_DEFAULTS.failureThreshold,
  };
}

/** Of specs that somebody holds: a rollout asks several times on its way. */
const known = new WeakMap<RevisionSpec, { driver: TargetDriver; traits: EngineTraits | undefined }>();

/** What callers must know of the engine that a spec names: the same for every instance and tenant. Undefined where nobody has described it. */
export function engineTraitsOf(driver: TargetDriver | undefined, spec: RevisionSpec): EngineTraits | undefined {
  if (!driver) return undefined;
  const found = known.get(spec);
  if (found?.driver === driver) return found.traits;
  const any = { id: 'traits', generation: 1, tenantName: '' };
  const traits = driver.traits?.(toInstanceSpec(spec, any, placeholderSecrets));
  known.set(spec, { driver, traits });
  return traits;
}

/**
 * The stored spec of a revision as a driver wants it. Values of secrets exist only in what this returns.
 * @param instance.ordinal which of the URLs of an endpoint is meant; the first unless given
 */
export function toInstanceSpec(
  spec: RevisionSpec,
  instance: {
    id: string;
    generation: number;
    tenantName: string;
    ordinal?: number;
    owner?: InstanceSpec['owner'];
    isModelSeen?: boolean;
  },
  secrets: SecretReader,
): InstanceSpec {
  const { runtime, endpoint } = spec;
  const built: InstanceSpec = {
    instanceId: instance.id,
    generation: instance.generation,
    tenantName: instance.tenantName,
    ...(instance.owner === undefined ? {} : { owner: instance.owner }),
    model: spec.model,
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    // What a deployment overrides changes while instances run, and is judged when one more of them starts.
    ...(spec.scaling && { scaling: effectiveScaling(spec.scaling) }),
    runtime: {
      ...(runtime.engine === undefined ? {} : { engine: runtime.engine }),
      args: runtime.args ?? {},
      ...environmentOf(runtime, secrets),
    },
    probe: probeOf(spec),
  };
  const baseUrl = endpointUrls(endpoint)[instance.ordinal ?? 0];
  if (!endpoint || baseUrl === undefined) return built;
  const { health_path: healthPath = '/health', credential_ref: reference } = endpoint;
  const credential = reference === undefined ? {} : { credential: secrets.value(reference, baseUrl) };
  const { isModelSeen } = instance;
  return { ...built, endpoint: { baseUrl, healthPath, ...credential, ...(isModelSeen && { isModelSeen }) } };
}

/** `envRefs` only where there is one. */
function environmentOf(
  { env }: RevisionSpec['runtime'],
  secrets: SecretReader,
): Pick<InstanceSpec['runtime'], 'env' | 'envRefs'> {
  const values: [string, string][] = [];
  const references: [string, { secret: string; key: string }][] = [];
  for (const [variable, value] of Object.entries(env ?? {})) {
    const reference = typeof value === 'string' ? undefined : secrets.reference(value.secret_ref);
    if (reference) references.push([variable, { secret: reference.name, key: reference.key }]);
    else values.push([variable, typeof value === 'string' ? value : secrets.value(value.secret_ref)]);
  }
  // Not by assignment: a variable may be called `__proto__`.
  const envRefs = references.length > 0 && { envRefs: Object.fromEntries(references) };
  return { env: Object.fromEntries(values), ...envRefs };
}

/** Of one instance, with its owner. */
export function specOfInstance(
  workload: Omit<WorkloadRow, 'instances'>,
  { id, generation, ordinal, model_seen }: Pick<InstanceRow, 'id' | 'generation' | 'ordinal' | 'model_seen'>,
  secrets: SecretReader,
): InstanceSpec {
  const { tenant_id, tenant_name: tenantName, deployment_id, revision_id, revision_name } = workload;
  const owner = {
    tenantId: tenant_id,
    deploymentId: deployment_id,
    revisionId: revision_id,
    revisionName: revision_name,
    ordinal,
  };
  const about = { id, generation, tenantName, ordinal, owner, isModelSeen: model_seen };
  return toInstanceSpec(workload.spec, about, secrets);
}

/** Each server that is adopted is one instance, however often it is wanted. */
export function replicasOn({ driver }: Target, spec: RevisionSpec): number {
  return Math.max(1, driver.adopts ? endpointUrls(spec.endpoint).length : (spec.scaling?.min_replicas ?? 1));
}
