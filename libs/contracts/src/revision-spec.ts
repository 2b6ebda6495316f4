/**
 * The content of a revision, complete with its defaults and immutable. Field names are those of the API. Every other
 * shape of it derives from this one: the request body (`RevisionSpecDto`) and the input of a driver (`InstanceSpec`).
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
  endpoint?: EndpointSpec;
  resources?: { accelerator?: string; count?: number; memory_mb?: number };
  scaling: ScalingSpec;
  probes?: {
    path?: string;
    interval_seconds?: number;
    timeout_seconds?: number;
    failure_threshold?: number;
    /** How an instance shows that it is ready; `request` by default. */
    probe?: ReadyProbe;
  };
}

/** `base_url`, `base_urls` or both: each URL is an instance of its own, in this order. */
export interface EndpointSpec {
  base_url?: string;
  base_urls?: string[];
  protocol: 'openai';
  /** Path of the API, if `serverUrls` does not find it. */
  api_path?: string;
  health_path: string;
  credential_ref?: string;
}

/** The most servers that one revision may adopt. */
export const MOST_ENDPOINT_URLS = 32;

/** Returns the addresses at which a revision's servers already run, by ordinal; empty for a spec that adopts none. */
export function endpointUrls({ base_url: first, base_urls: more = [] }: Partial<EndpointSpec> = {}): string[] {
  return first === undefined ? more : [first, ...more];
}

/** Returns the field of a spec that has the URL of that ordinal, for people. */
export function endpointUrlField({ base_url: first }: Partial<EndpointSpec> = {}, ordinal: number): string {
  if (first === undefined) return `endpoint.base_urls[${ordinal}]`;
  return ordinal === 0 ? 'endpoint.base_url' : `endpoint.base_urls[${ordinal - 1}]`;
}

/** How many instances a revision has. A deployment's `scaling` overrides it field by field. */
export interface ScalingSpec {
  /** 0: the revision sleeps when there are no requests for it. */
  min_replicas: number;
  max_replicas?: number;
  /** Intended requests in flight per instance. Without it the number of instances follows no load. */
  target_in_flight?: number;
  scale_down_after_seconds?: number;
  /** Seconds without requests until it sleeps. Only with `min_replicas: 0`. */
  idle_seconds?: number;
}

/** The scaling that results from a revision's and its deployment's, with every default. */
export interface EffectiveScaling {
  min_replicas: number;
  max_replicas: number;
  target_in_flight: number | null;
  scale_down_after_seconds: number;
  /** Null: it never sleeps. */
  idle_seconds: number | null;
}

const SCALE_DOWN_AFTER_SECONDS = 300;
const IDLE_SECONDS = 600;

/** Each of the two was valid by itself. If together they contradict each other, the smallest requested number holds. */
export function effectiveScaling(spec: ScalingSpec, override?: Partial<ScalingSpec> | null): EffectiveScaling {
  const scaling: ScalingSpec = { ...spec, ...override };
  const { min_replicas: min } = scaling;
  return {
    min_replicas: min,
    max_replicas: Math.max(1, min, scaling.max_replicas ?? 0),
    target_in_flight: scaling.target_in_flight ?? null,
    scale_down_after_seconds: scaling.scale_down_after_seconds ?? SCALE_DOWN_AFTER_SECONDS,
    idle_seconds: min === 0 ? (scaling.idle_seconds ?? IDLE_SECONDS) : null,
  };
}

export interface ModelSpec {
  id: string;
  uri?: string;
  revision?: string;
  format?: string;
  quantization?: string;
}

/** `request`: it has answered one request. `list`: its health and its list of models are enough. */
export const READY_PROBES = ['request', 'list'] as const;
export type ReadyProbe = (typeof READY_PROBES)[number];

export type ArgValue = string | number | boolean;

/** A text, or the name of one of the operator's secrets. */
export type EnvValue = string | { secret_ref: string };

/** The members of a spec: the first segment of the path of a knob or a change. */
export const SPEC_MEMBERS = [
  'model',
  'runtime',
  'endpoint',
  'resources',
  'scaling',
  'probes',
] as const satisfies readonly (keyof RevisionSpec)[];
