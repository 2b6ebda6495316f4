import type { TargetConfig } from '@slipway/platform-config';
import type { ArgConfig, TemplateConfig } from '@slipway/target-driver';
import type { ClusterConfig } from './api/cluster.js';

/** A target of `kind: kubernetes`, keyed as in the operator's file, with every default. */
export interface KubernetesTargetConfig extends TargetConfig {
  cluster: ClusterConfig;
  namespaces: {
    default: string;
    /** By the names of tenants, as everywhere in the operator's file. */
    by_tenant: Record<string, string>;
  };
  reach: Reach;
  /** An InferencePool of each revision, for gateways other than Slipway's. Absent: there are none. */
  inference_pool?: InferencePoolConfig;
  /**
   * How engines come to the operator's secrets: the kubelet reads them where they are, and Slipway never does (`reference`); or Slipway
   * writes their values into a Secret of each unit (`managed`).
   */
  secrets: 'reference' | 'managed';
  /** What `resources.accelerator` of a revision may name. */
  accelerators: Record<string, Accelerator>;
  engines: Record<string, KubernetesEngine>;
  /** How long a stopped unit stays as the mark that it was started once. */
  retain_seconds: number;
  /** What becomes of a unit that somebody else changed. */
  on_drift: 'report' | 'replace';
}

/** How requests come to an engine: to its pod's address, to a Service of its own, or by a URL that the operator has made reachable. */
export type Reach = 'pod' | 'service' | { url: string };

export interface InferencePoolConfig {
  /** The Service, in the namespace of the pods, that a gateway asks which of them gets a request; `{pool}` stands for the pool's name. */
  endpoint_picker: {
    name: string;
    port: number;
    /** What the gateway does where it does not answer: refuses (`FailClose`), or takes any pod. */
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

/** One engine, as the reader of the file leaves it: short forms are written out, and what its keys say twice is said once. */
export interface KubernetesEngine extends TemplateConfig {
  image: string;
  /** Where the engine listens in its pod; `{port}` stands for it. */
  port: number;
  args: Record<string, ArgConfig>;
  env_allow: string[];
  /** With `key_env` in it, as `{instance_key}`. */
  env: Record<string, string>;
  ready: { path: string; timeout_seconds: number };
  stop: { drain: 'engine' | 'gateway'; grace_seconds: number };
  /** How many accelerators it takes, and how many a revision may ask for. Absent: it takes none. */
  gpus?: { min: number; max: number; share: 'exclusive' };
  unit: { kind: 'deployment' } | { kind: 'leaderworkerset'; size: number };
  /** Of the nodes of a group that do not lead; the command's own by default. */
  worker_command?: TemplateConfig['command'];
  resources: { requests?: Record<string, string>; limits?: Record<string, string> };
  allow: Allowance;
  /** A part of a pod template that is merged over ours. */
  pod: PodPart;
  /** The same for the nodes of a group that do not lead. */
  worker_pod: PodPart;
}

/** What a revision may ask for beside declared arguments and variables. */
export interface Allowance {
  /** Names of the target's accelerators. */
  accelerators: string[];
  /** How the number of accelerators is passed on, appended to the command. */
  count_arg?: string[];
  memory_mb?: { max: number };
  max_replicas?: number;
}

/** Of a pod template, as the API has it: fields that we do not know pass through. */
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

/** How long requests under way may take to end. */
export function drainSeconds({ stop }: Pick<KubernetesEngine, 'stop'>): number {
  return stop.grace_seconds - AFTER_DRAIN_SECONDS;
}

/** Whether an instance of the engine is several pods that serve together. */
export function isGroup({ unit }: Pick<KubernetesEngine, 'unit'>): boolean {
  return unit.kind === 'leaderworkerset';
}

/** Whether the cluster must know LeaderWorkerSets. */
export function usesGroups({ engines }: Pick<KubernetesTargetConfig, 'engines'>): boolean {
  return Object.values(engines).some(isGroup);
}

/** Where the units of a tenant are. Every method that looks for what exists must look in all of `namespacesOf`. */
export function namespaceFor({ namespaces }: KubernetesTargetConfig, tenantName: string | undefined): string {
  const own = tenantName !== undefined && Object.hasOwn(namespaces.by_tenant, tenantName);
  return own ? namespaces.by_tenant[tenantName]! : namespaces.default;
}

/** All that a target uses, each once. */
export function namespacesOf({ namespaces }: KubernetesTargetConfig): string[] {
  return [...new Set([namespaces.default, ...Object.values(namespaces.by_tenant)])];
}
