import type { ArgValue, EngineService, IdentityProof, UnknownModel } from '@slipway/contracts';

/**
 * The part of an engine that every kind of target has if it starts servers. The keys are those of the operator's file.
 */
export interface TemplateConfig {
  /** Program and arguments, without a shell. A list of elements is left out if one of its placeholders has no value. */
  command: (string | string[])[];
  /**
   * Arguments that a revision may set, appended in the order of this map. A text is a declaration that has only `arg`.
   */
  args?: Record<string, string | ArgConfig>;
  /** Names of environment variables that a revision may set. */
  env_allow?: string[];
  /** Variables of every start, with placeholders. A variable whose placeholder has no value is not set. */
  env?: Record<string, string>;
  /** Accelerators that the engine takes. Absent: it uses none and none is assigned to it. */
  gpus?: GpusConfig;
  /** Path of its health probes (`/health`), and seconds that it may take to its first answer (60). */
  ready?: { path?: string; timeout_seconds?: number };
  /** Probe settings after the engine was ready, for values that a revision does not set. */
  live?: LiveConfig;
  /** Which side lets running requests end: the engine after its signal, or the gateways before it. */
  stop?: { drain?: 'engine' | 'gateway'; grace_seconds?: number };
  /** Selects the checks of a qualification; `[chat]` by default. */
  serves?: EngineService[];
  /** `rejects` by default. */
  unknown_model?: UnknownModel;
  identity?: IdentityProof[];
  /** Whether it reuses cached prefixes only for requests with the same `cache_salt`; false by default. */
  cache_salt?: boolean;
  metrics?: MetricsConfig;
  context?: ContextConfig;
}

/** Which arguments decide about the tokens of one request. */
export interface ContextConfig {
  arg: string;
  /** The argument with the number of concurrent requests that share these tokens. */
  shared_by?: string;
}

export interface ArgConfig {
  /** One or two elements, with `{}` once in place of the value. A switch has no `{}`, and is present if it is true. */
  arg: string | string[];
  /** Replaces the elements of a switch that is false. */
  off?: string;
  /**
   * Without `{}` in `arg` the default is `switch`. Otherwise it is `string`, which accepts any text, number or boolean.
   */
  type?: 'string' | 'integer' | 'number' | 'choice' | 'switch' | 'json';
  /** Of a number, inclusive. */
  min?: number;
  max?: number;
  /** Name of another argument. The value may not be below that argument's value or default. */
  at_least?: string;
  /** Passed on if a revision sets no value. */
  default?: ArgValue;
  choices?: ArgValue[];
  /** Values worth trying when the engine is tuned. */
  tune?: ArgValue[];
  /** Whether the argument may change the engine's answers. */
  quality?: boolean;
  reason?: string;
  /** Limit of JSON, in UTF-8; 2,048 by default, at most 8,192. */
  max_bytes?: number;
}

export interface GpusConfig {
  min: number;
  max: number;
  /** Whether the engine can share an accelerator with others. */
  share: 'exclusive' | 'fraction';
}

export interface LiveConfig {
  path?: string;
  interval_seconds?: number;
  timeout_seconds?: number;
  failure_threshold?: number;
}

/** Where the engine reports its metrics, and their names. Of several names, the first that exists counts. */
export interface MetricsConfig {
  path: string;
  running?: string | string[];
  waiting?: string | string[];
  kv_usage?: string | string[];
  preemptions?: string | string[];
}
