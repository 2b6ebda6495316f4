import type { ObservationReason } from './observation.js';
import type { ArgValue } from './revision-spec.js';

/** What a client may ask an engine for; it picks the checks of a qualification. */
export const ENGINE_SERVICES = ['chat', 'completions', 'responses', 'embeddings', 'rerank'] as const;
export type EngineService = (typeof ENGINE_SERVICES)[number];

/**
 * What an engine does with a `model` that it does not have: refuse it, answer in its own name (`ignores`), answer in the name that was
 * asked for (`echoes`), or nobody has found out.
 */
export const UNKNOWN_MODEL = ['rejects', 'ignores', 'echoes', 'unknown'] as const;
export type UnknownModel = (typeof UNKNOWN_MODEL)[number];

/**
 * How an engine proves that it has the revision's model: `models_list`: GET /v1/models names `model.id`; `response_model`: an answer names
 * it; else a field of the JSON that a path of its answers, which must equal the text, placeholders filled in.
 */
export type IdentityProof = 'models_list' | 'response_model' | { path: string; field: string; equals: string };

/** An argument that a revision may set, as its engine's template declares it. */
export interface EngineArg {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  min?: number;
  max?: number;
  /** Another argument, whose value it may not be below. */
  at_least?: string;
  default?: ArgValue;
  choices?: ArgValue[];
  /** Values that are worth trying when the engine is tuned. */
  tune?: ArgValue[];
  /** Whether it may change what the engine answers, so that a gate on quality has to run. */
  quality?: true;
  reason?: string;
}

/** What is promised of the engine that a spec names, as far as it decides how a qualification goes. */
export interface PromisedTraits {
  serves: EngineService[];
  unknownModel: UnknownModel;
  identity: IdentityProof[];
  /** To its first healthy answer. */
  readyTimeoutSeconds: number;
}

/** Why a start came to nothing, for people and for `evidence` of a step. */
export interface StartFailure {
  cause: ObservationReason;
  /** What to do about it, one sentence. */
  remediation: string;
  exit_code: number | null;
  signal: string | null;
  /** The line of its output that tells the cause, where one does. */
  line?: string;
  /** Last lines of its output, redacted, oldest first; at most 40 of at most 500 characters. */
  log_tail: string[];
}

/** How far a start is. Bytes only where they are known. */
export interface StartProgress {
  phase: 'downloading' | 'loading';
  bytes?: number;
  total_bytes?: number;
}

/** An accelerator of a target's host. */
export interface Device {
  /** Stable over reboots; what an assignment is stored by. */
  uuid: string;
  /** By PCI bus; may change at a reboot. */
  index: number;
  name: string;
  /** Null where the host does not tell. */
  memory_mb: number | null;
  used_mb: number | null;
  /** False while it is stuck or broken: nothing is started on it. `problem` says why. */
  is_usable: boolean;
  problem?: string;
  /** Memory that processes hold which the target has not started, MiB. */
  foreign_mb: number;
}
