import { endpointUrls, type RevisionSpec } from '@slipway/contracts';
import type { EngineTraits, InstanceSpec, TargetDriver } from '@slipway/target-driver';
import type { InstanceRow, WorkloadRow } from './instance.query.js';

/** Where a spec leaves the pace of probes open: a crash is seen within a second, illness within about three. */
export const PROBE_DEFAULTS = { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 };

/** Reads the value of a secret of the operator by its name; `sentTo` is the URL it goes to, if it goes to one. */
export type SecretReader = (name: string, sentTo?: string) => string;

/** For checks and looks that need no secret: a driver checks the shape of an environment, only a start passes it on. */
export const placeholderSecrets: SecretReader = () => 'secret';

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

/** What callers must know of the engine that a spec names: the same for every instance and tenant. Undefined where nobody has described it. */
export function traitsOf(driver: TargetDriver | undefined, spec: RevisionSpec): EngineTraits | undefined {
  const any = { id: 'traits', generation: 1, tenantName: '' };
  return driver?.traits?.(toInstanceSpec(spec, any, placeholderSecrets));
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
  readSecret: SecretReader,
): InstanceSpec {
  const { runtime, endpoint } = spec;
  const env = Object.entries(runtime.env ?? {}).map(
    ([name, value]) => [name, typeof value === 'string' ? value : readSecret(value.secret_ref)] as const,
  );
  const built: InstanceSpec = {
    instanceId: instance.id,
    generation: instance.generation,
    tenantName: instance.tenantName,
    ...(instance.owner === undefined ? {} : { owner: instance.owner }),
    model: spec.model,
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    runtime: {
      ...(runtime.engine === undefined ? {} : { engine: runtime.engine }),
      args: runtime.args ?? {},
      env: Object.fromEntries(env),
    },
    probe: probeOf(spec),
  };
  const baseUrl = endpointUrls(endpoint)[instance.ordinal ?? 0];
  if (!endpoint || baseUrl === undefined) return built;
  const { health_path: healthPath = '/health', credential_ref: reference } = endpoint;
  const credential = reference === undefined ? {} : { credential: readSecret(reference, baseUrl) };
  const { isModelSeen } = instance;
  return { ...built, endpoint: { baseUrl, healthPath, ...credential, ...(isModelSeen && { isModelSeen }) } };
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
