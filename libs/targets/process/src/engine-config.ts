import type { ArgValue, EngineServes, IdentityProof, UnknownModel } from '@slipway/contracts';

/** One engine of the operator's configuration, keyed as in the file, once what it extends is merged into it. */
export interface EngineConfig {
  /**
   * Program and arguments, no shell. `node` as the program means the node that runs the worker. Elements that are a list are left out
   * together when one of their placeholders has no value.
   */
  command: (string | string[])[];
  /** Arguments that a revision may set, appended in the order of this map. A text is a declaration that has only `arg`. */
  args?: Record<string, string | ArgConfig>;
  /** Names of environment variables that a revision may set. */
  env_allow?: string[];
  /** Variables that every start has, with placeholders; one whose placeholder has no value is not set. */
  env?: Record<string, string>;
  /** Variables whose values are secrets of the operator's file, read at each start. */
  secret_env?: Record<string, SecretRef>;
  /** Folders that stand before PATH. */
  path?: string[];
  /** Working folder; the worker's by default. */
  cwd?: string;
  /** Names of the ports that it needs beside `{port}`: `metrics` is `{port.metrics}`, where it is then asked for its metrics. */
  ports?: string[];
  /** Operating-system user that it runs as. */
  user?: string;
  limits?: LimitsConfig;
  /** Accelerators that it takes. Absent: it uses none and none is assigned to it. */
  gpus?: GpusConfig;
  /** Where it answers health probes (`/health`), and how long it may take to its first answer (60 s). */
  ready?: ReadyConfig;
  /** How it is asked once it was ready, where a revision does not say. */
  live?: LiveConfig;
  stop?: StopConfig;
  /** Picks the checks of a qualification; `[chat]` by default. */
  serves?: EngineServes[];
  /** `rejects` by default. */
  unknown_model?: UnknownModel;
  identity?: IdentityProof[];
  metrics?: MetricsConfig;
  /** What `model.uri` may name: globs of absolute paths, and `hf:org/*`. Absent: anything. */
  model_sources?: string[];
  /** Fetches the model before the engine starts; the only step that is given a network token. */
  prefetch?: PrefetchConfig;
  /** The template that it was made of, as `llamacpp@1`. Set by the reader of the file. */
  template?: string;
}

export interface ArgConfig {
  /** One or two elements, with `{}` once where the value goes. A switch has none, and is there when it is true. */
  arg: string | string[];
  /** What stands in its place when a switch is false. */
  off?: string;
  /** `string` by default, which takes any text, number or boolean; of a `arg` without `{}` it is `switch`. */
  type?: 'string' | 'integer' | 'number' | 'choice' | 'switch' | 'json';
  /** Of a number, inclusive. */
  min?: number;
  max?: number;
  /** Another argument, whose value or default it may not be below. */
  at_least?: string;
  /** Passed on where a revision sets nothing. */
  default?: ArgValue;
  choices?: ArgValue[];
  /** Values worth trying when the engine is tuned. */
  tune?: ArgValue[];
  /** Whether it may change what the engine answers. */
  quality?: boolean;
  reason?: string;
  /** Of JSON, in UTF-8; 2,048 by default, at most 8,192. */
  max_bytes?: number;
}

export interface SecretRef {
  /** Its name in `secrets` of the operator's file. */
  secret: string;
}

export interface LimitsConfig {
  /** Open files. */
  nofile?: number;
  /** 0 to 19: the higher, the more others go first. */
  nice?: number;
  /** Memory of all of its processes, MiB, by cgroup. */
  memory_mb?: number;
  /** Size of a core file, MiB. */
  core_mb?: number;
}

export interface GpusConfig {
  min: number;
  max: number;
  /** Whether it bears others beside it on one. */
  share: 'exclusive' | 'fraction';
}

export interface ReadyConfig {
  path?: string;
  timeout_seconds?: number;
  /** What is still loading: no connection, a 503, or both (`either`). Any other answer is a wrong template. Absent: every answer. */
  while_starting?: 'refused' | '503' | 'either';
  /** Who may listen at its port: its own processes, where that can be told (the default), or anybody. */
  listener?: 'own' | 'any';
  /** A piece of the line that it logs when it is up. Explains progress, decides nothing. */
  log?: string;
}

export interface LiveConfig {
  path?: string;
  interval_seconds?: number;
  timeout_seconds?: number;
  failure_threshold?: number;
}

export interface StopConfig {
  signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  /** Who gets the signal; SIGKILL gets all that belongs to it. */
  to?: 'leader' | 'group';
  /** From the signal to SIGKILL. */
  grace_seconds?: number;
  /** Who lets requests under way end: the engine after its signal, or the gateways before it. */
  drain?: 'engine' | 'gateway';
  /** How long the memory of its devices may take to come back. */
  memory_free_within_seconds?: number;
}

/** Where it tells its metrics and what they are called; several names are tried in turn. */
export interface MetricsConfig {
  path: string;
  running?: string | string[];
  waiting?: string | string[];
  kv_usage?: string | string[];
  preemptions?: string | string[];
}

export interface PrefetchConfig {
  command: (string | string[])[];
  /** On top of the engine's. */
  env?: Record<string, string>;
  secret_env?: Record<string, SecretRef>;
  timeout_seconds: number;
}
