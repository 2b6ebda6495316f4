/**
 * What a revision runs, complete with its defaults and immutable. Field names are those of the API (api.md 2.3). Every other
 * shape of it is made from this one: the request body (`RevisionSpecDto`) and what a driver is given (`InstanceSpec`).
 */
export interface RevisionSpec {
  model: ModelSpec;
  runtime: {
    /** Name of an execution target. */
    target: string;
    /** Name of one of the target's engines. Targets that adopt running servers have none. */
    engine?: string;
    args: Record<string, ArgValue>;
    env: Record<string, EnvValue>;
  };
  /** Only for targets that adopt servers which already run. */
  endpoint?: { base_url: string; protocol: 'openai'; health_path: string; credential_ref?: string };
  resources?: { accelerator?: string; count?: number; memory_mb?: number };
  scaling: { min_replicas: number; max_replicas?: number };
  probes?: { path?: string; interval_seconds?: number; timeout_seconds?: number; failure_threshold?: number };
}

export interface ModelSpec {
  id: string;
  uri?: string;
  revision?: string;
  format?: string;
  quantization?: string;
}

export type ArgValue = string | number | boolean;

/** A text, or the name of one of the operator's secrets. */
export type EnvValue = string | { secret_ref: string };

/** The members of a spec, where the path of a knob or a change begins. */
export const SPEC_MEMBERS = [
  'model',
  'runtime',
  'endpoint',
  'resources',
  'scaling',
  'probes',
] as const satisfies readonly (keyof RevisionSpec)[];
