import { type TemplateConfig, MODEL_FIELDS } from '@slipway/target-driver';

/**
 * One engine of the operator's configuration, keyed as in the file, once what it extends is merged into it. `node` as the program of
 * its command means the node that runs the worker.
 */
export interface EngineConfig extends TemplateConfig {
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
  ready?: ReadyConfig;
  stop?: StopConfig;
  /** What `model.uri` may name: globs of absolute paths, and `hf:org/*`. Absent: anything. */
  model_sources?: string[];
  /** Fetches the model before the engine starts; the only step that is given a network token. */
  prefetch?: PrefetchConfig;
  /** The template that it was made of, as `llamacpp@1`. Set by the reader of the file. */
  template?: string;
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

export interface PrefetchConfig {
  command: (string | string[])[];
  /** On top of the engine's. */
  env?: Record<string, string>;
  secret_env?: Record<string, SecretRef>;
  timeout_seconds: number;
}

/** What `{…}` may stand for in a command. `home` is the absolute SLIPWAY_HOME. */
export const PROCESS_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'port',
  'home',
  'instance.dir',
  'instance_key',
  'gpu.indices',
  'gpu.count',
  ...MODEL_FIELDS.map((field) => `model.${field}`),
]);
