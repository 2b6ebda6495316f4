import type { ArgValue, EngineService, IdentityProof, UnknownModel } from '@slipway/contracts';

/** What an engine has on every kind of target that starts it, keyed as in the operator's file. */
export interface TemplateConfig {
  /** Program and arguments, no shell. Elements that are a list are left out together when one of their placeholders has no value. */
  command: (string | string[])[];
  /** Arguments that a revision may set, appended in the order of this map. A text is a declaration that has only `arg`. */
  args?: Record<string, string | ArgConfig>;
  /** Names of environment variables that a revision may set. */
  env_allow?: string[];
  /** Variables that every start has, with placeholders; one whose placeholder has no value is not set. */
  env?: Record<string, string>;
  /** Accelerators that it takes. Absent: it uses none and none is assigned to it. */
  gpus?: GpusConfig;
  /** Where it answers health probes (`/health`), and how long it may take to its first answer (60 s). */
  ready?: { path?: string; timeout_seconds?: number };
  /** How it is asked once it was ready, where a revision does not say. */
  live?: LiveConfig;
  /** Who lets requests under way end: the engine after its signal, or the gateways before it. */
  stop?: { drain?: 'engine' | 'gateway'; grace_seconds?: number };
  /** Picks the checks of a qualification; `[chat]` by default. */
  serves?: EngineService[];
  /** `rejects` by default. */
  unknown_model?: UnknownModel;
  identity?: IdentityProof[];
  metrics?: MetricsConfig;
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

export interface GpusConfig {
  min: number;
  max: number;
  /** Whether it bears others beside it on one. */
  share: 'exclusive' | 'fraction';
}

export interface LiveConfig {
  path?: string;
  interval_seconds?: number;
  timeout_seconds?: number;
  failure_threshold?: number;
}

/** Where it tells its metrics and what they are called; several names are tried in turn. */
export interface MetricsConfig {
  path: string;
  running?: string | string[];
  waiting?: string | string[];
  kv_usage?: string | string[];
  preemptions?: string | string[];
}
