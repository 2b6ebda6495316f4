import type { RevisionSpec } from '@slipway/contracts';
import type { InstanceSpec } from '@slipway/target-driver';

/** Where a spec leaves the pace of probes open: a crash is seen within a second, illness within about three. */
export const PROBE_DEFAULTS = { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 };

/** Reads the value of a secret of the operator by its name. */
export type SecretReader = (name: string) => string;

/** For checks and looks that need no secret: a driver checks the shape of an environment, only a start passes it on. */
export const placeholderSecrets: SecretReader = () => 'secret';

export function probeOf(spec: RevisionSpec): InstanceSpec['probe'] {
  const {
    path,
    interval_seconds: interval,
    timeout_seconds: timeout,
    failure_threshold: threshold,
  } = spec.probes ?? {};
  return {
    ...(path === undefined ? {} : { path }),
    intervalSeconds: interval ?? PROBE_DEFAULTS.intervalSeconds,
    timeoutSeconds: timeout ?? PROBE_DEFAULTS.timeoutSeconds,
    failureThreshold: threshold ?? PROBE_DEFAULTS.failureThreshold,
  };
}

/** The stored spec of a revision as a driver wants it. Values of secrets exist only in what this returns. */
export function toInstanceSpec(
  spec: RevisionSpec,
  instance: { id: string; generation: number; owner?: InstanceSpec['owner'] },
  readSecret: SecretReader,
): InstanceSpec {
  const { runtime, endpoint } = spec;
  const env = Object.entries(runtime.env ?? {}).map(
    ([name, value]) => [name, typeof value === 'string' ? value : readSecret(value.secret_ref)] as const,
  );
  const built: InstanceSpec = {
    instanceId: instance.id,
    generation: instance.generation,
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
  if (!endpoint) return built;
  const credential = endpoint.credential_ref === undefined ? {} : { credential: readSecret(endpoint.credential_ref) };
  return {
    ...built,
    endpoint: { baseUrl: endpoint.base_url, healthPath: endpoint.health_path ?? '/health', ...credential },
  };
}
