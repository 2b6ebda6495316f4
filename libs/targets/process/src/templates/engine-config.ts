import { type TemplateConfig, MODEL_FIELDS } from '@slipway/target-driver';

/**
 * One engine of the operator's configuration, with the keys of the file, after the template that it extends is merged
 * in. `node` as the program of its command means the Node that runs the worker.
 */
export interface EngineConfig extends TemplateConfig {
  /** Variables whose values are secrets of the operator's file, read at each start. */
  secret_env?: Record<string, SecretRef>;
  /** Folders that precede PATH. */
  path?: string[];
  /** Working folder; the worker's by default. */
  cwd?: string;
  /**
   * Names of the ports that it needs in addition to `{port}`. `metrics` is `{port.metrics}`, from which its metrics are
   * then read.
   */
  ports?: string[];
  /** The operating-system user of its processes. */
  user?: string;
  limits?: LimitsConfig;
  ready?: ReadyConfig;
  stop?: StopConfig;
  /** The models that `model.uri` may name: globs of absolute paths, and `hf:org/*`. Absent: any model. */
  model_sources?: string[];
  /** Fetches the model before the engine starts; the only step that gets a network token. */
  prefetch?: PrefetchConfig;
  /** The template that it extends, such as `llamacpp@1`. Set by the reader of the file. */
  template?: string;
}

export interface SecretRef {
  /** Its name in `secrets` of the operator's file. */
  secret: string;
}

export interface LimitsConfig {
  /** Open files. */
  nofile?: number;
  /** 0 to 19; with a higher value other processes go first. */
  nice?: number;
  /** Memory of all its processes, MiB, limited by cgroup. */
  memory_mb?: number;
  /** Size of a core file, MiB. */
  core_mb?: number;
}

export interface ReadyConfig {
  path?: string;
  timeout_seconds?: number;
  /**
   * The answers that mean loading: no connection, a 503, or both (`either`). Any other answer means a wrong template.
   * Absent: every answer.
   */
  while_starting?: 'refused' | '503' | 'either';
  /** Whose processes may listen on its port: its own, if that can be found out (the default), or any. */
  listener?: 'own' | 'any';
  /** A part of the line that it logs when it is up. It explains progress and decides nothing. */
  log?: string;
}

export interface StopConfig {
  signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  /** The receiver of the signal; SIGKILL is sent to all its processes. */
  to?: 'leader' | 'group';
  /** Seconds from the signal to SIGKILL. */
  grace_seconds?: number;
  /** The side that lets requests in progress finish: the engine after its signal, or the gateways before it. */
  drain?: 'engine' | 'gateway';
  /** The longest time until the memory of its devices is free again. */
  memory_free_within_seconds?: number;
}

export interface PrefetchConfig {
  command: (string | string[])[];
  /** In addition to the engine's. */
  env?: Record<string, string>;
  secret_env?: Record<string, SecretRef>;
  timeout_seconds: number;
}

/** The placeholders `{…}` of a command. `home` is the absolute SLIPWAY_HOME. */
export const PROCESS_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'port',
  'home',
  'instance.dir',
  'instance_key',
  'gpu.indices',
  'gpu.count',
  ...MODEL_FIELDS.map((field) => `model.${field}`),
]);
