import type { TargetConfig } from '@slipway/platform-config';
import type { ArgConfig, TemplateConfig } from '@slipway/target-driver';
import type { ClusterConfig } from './api/cluster.js';

/** A target of `kind: kubernetes`, with the keys of the operator's file and every default. */
export interface KubernetesTargetConfig extends TargetConfig {
  cluster: ClusterConfig;
  namespaces: {
    default: string;
    /** By the names of tenants, like everywhere in the operator's file. */
    by_tenant: Record<string, string>;
  };
  reach: Reach;
  /** An InferencePool of each revision, for gateways other than Slipway's. Absent: there are none. */
  inference_pool?: InferencePoolConfig;
  /**
   * How engines get the operator's secrets. `reference`: the kubelet reads them from Secrets of the operator, and
   * Slipway never does. `managed`: Slipway writes their values into a Secret of each unit.
   */
  secrets: 'reference' | 'managed';
  /** The values of `resources.accelerator` of a revision. */
  accelerators: Record<string, Accelerator>;
  engines: Record<string, KubernetesEngine>;
  /** How long a stopped unit stays as the mark that it was started once. */
  retain_seconds: number;
  /** The reaction to a unit that another client changed. */
  on_drift: 'report' | 'replace';
}

/**
 * How requests reach an engine: by its pod's address, by a Service of its own, or by a URL that the operator has made
 * reachable.
 */
export type Reach = 'pod' | 'service' | { url: string };

export interface InferencePoolConfig {
  /**
   * The Service, in the namespace of the pods, that selects a pod for each request of a gateway. `{pool}` is replaced
   * by the pool's name.
   */
  endpoint_picker: {
    name: string;
    port: number;
    /** The gateway's behaviour if the picker does not answer: it refuses (`FailClose`), or selects any pod. */
    failure_mode: 'FailClose' | 'FailOpen';
  };
}

export interface Accelerator {
  /** The extended resource that nodes offer: `nvidia.com/gpu`. */
  resource: string;
  /** Of one node. */
  max_count: number;
  node_selector?: Record<string, string>;
  tolerations?: Toleration[];
  runtime_class?: string;
}

export interface Toleration {
  key?: string;
  operator?: 'Exists' | 'Equal';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  tolerationSeconds?: number;
}

/** One engine, after the reader of the file has expanded short forms and merged keys with the same meaning. */
export interface KubernetesEngine extends TemplateConfig {
  image: string;
  /** The port of the engine in its pod, the value of `{port}`. */
  port: number;
  args: Record<string, ArgConfig>;
  env_allow: string[];
  /** Includes `key_env`, as `{instance_key}`. */
  env: Record<string, string>;
  ready: { path: string; timeout_seconds: number };
  stop: { drain: 'engine' | 'gateway'; grace_seconds: number };
  /** How many accelerators the engine takes, limited to what a revision may request. Absent: it takes none. */
  gpus?: { min: number; max: number; share: 'exclusive' };
  unit: { kind: 'deployment' } | { kind: 'leaderworkerset'; size: number };
  /** For the nodes of a group that do not lead; the command itself by default. */
  worker_command?: TemplateConfig['command'];
  resources: { requests?: Record<string, string>; limits?: Record<string, string> };
  allow: Allowance;
  /** A part of a pod template that is merged over ours. */
  pod: PodPart;
  /** The same for the nodes of a group that do not lead. */
  worker_pod: PodPart;
  /** Absent: `soft`. */
  spread?: Spread;
}

/**
 * How the instances of a revision share nodes. `soft`: on different nodes and zones if possible. `hard`: only on
 * a node with the fewest of them, or they wait. `pack`: next to other instances of the target, so that other nodes stay
 * free.
 */
export type Spread = 'soft' | 'hard' | 'pack';

/** Requests of a revision that are allowed in addition to declared arguments and variables. */
export interface Allowance {
  /** Names of the target's accelerators. */
  accelerators: string[];
  /** Passes the number of accelerators on, appended to the command. */
  count_arg?: string[];
  memory_mb?: { max: number };
  max_replicas?: number;
}

/** A part of a pod template, with the API's fields. Unknown fields are kept. */
export interface PodPart {
  metadata?: Record<string, unknown>;
  spec?: Record<string, unknown>;
}

/** @throws Error for a spec that `check` refuses */
export function engineOf(config: KubernetesTargetConfig, name: string | undefined): KubernetesEngine {
  const engine = name !== undefined && Object.hasOwn(config.engines, name) ? config.engines[name] : undefined;
  if (!engine) throw new Error(`target "${config.name}" has no engine "${name}"`);
  return engine;
}

/** Between the end of the drain and SIGKILL. */
export const AFTER_DRAIN_SECONDS = 5;

/** How long running requests may take to end. */
export function drainSeconds({ stop }: Pick<KubernetesEngine, 'stop'>): number {
  return stop.grace_seconds - AFTER_DRAIN_SECONDS;
}

/** Whether an instance of the engine is several pods that serve together. */
export function isGroup({ unit }: Pick<KubernetesEngine, 'unit'>): boolean {
  return unit.kind === 'leaderworkerset';
}

/** Whether the cluster must have LeaderWorkerSets. */
export function usesGroups({ engines }: Pick<KubernetesTargetConfig, 'engines'>): boolean {
  return Object.values(engines).some(isGroup);
}

/** The namespace for a tenant's units. Methods that search for existing units must search in all of `namespacesOf`. */
export function namespaceFor({ namespaces }: KubernetesTargetConfig, tenantName: string | undefined): string {
  const own = tenantName !== undefined && Object.hasOwn(namespaces.by_tenant, tenantName);
  return own ? namespaces.by_tenant[tenantName]! : namespaces.default;
}

/** All namespaces of a target, each once. */
export function namespacesOf({ namespaces }: KubernetesTargetConfig): string[] {
  return [...new Set([namespaces.default, ...Object.values(namespaces.by_tenant)])];
}
