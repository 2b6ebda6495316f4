import type { ObservationReason } from './observation.js';
import type { ArgValue } from './revision-spec.js';

/** The services that a client may request from an engine; they decide the checks of a qualification. */
export const ENGINE_SERVICES = ['chat', 'completions', 'responses', 'embeddings', 'rerank'] as const;
export type EngineService = (typeof ENGINE_SERVICES)[number];

/**
 * How an engine treats a `model` that it does not have: it refuses it, answers under its own name (`ignores`), answers
 * under the requested name (`echoes`), or its behaviour is unknown.
 */
export const UNKNOWN_MODEL = ['rejects', 'ignores', 'echoes', 'unknown'] as const;
export type UnknownModel = (typeof UNKNOWN_MODEL)[number];

/**
 * How an engine proves that it has the revision's model. `models_list`: GET /v1/models names `model.id`.
 * `response_model`: an answer names it. Otherwise a field of the JSON answer at a path, which must equal the text with
 * its placeholders filled in.
 */
export type IdentityProof = 'models_list' | 'response_model' | { path: string; field: string; equals: string };

/** An argument that a revision may set, as its engine's template declares it. */
export interface EngineArg {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  min?: number;
  max?: number;
  /** Another argument that is the lower limit of its value. */
  at_least?: string;
  default?: ArgValue;
  choices?: ArgValue[];
  /** Values that are worth trying when the engine is tuned. */
  tune?: ArgValue[];
  /** Whether it may change the engine's answers, so that a gate on quality has to run. */
  quality?: true;
  /** Its purpose, or the trade-off that it controls: the help of a form. */
  reason?: string;
}

/** The promised traits of the engine that a spec names, as far as they affect a qualification. */
export interface PromisedTraits {
  serves: EngineService[];
  unknownModel: UnknownModel;
  identity: IdentityProof[];
  /** Whether it reuses cached prefixes only for requests with the same `cache_salt`. */
  hasCacheSalt: boolean;
  /** Time to its first healthy answer. */
  readyTimeoutSeconds: number;
  /** Tokens that one request may have, by the template and the arguments of the revision; absent if unknown. */
  contextLength?: number;
}

/** The reason why a start failed, for people and for `evidence` of a step. */
export interface StartFailure {
  cause: ObservationReason;
  /** How to fix it, one sentence. */
  remediation: string;
  exit_code: number | null;
  signal: string | null;
  /** The line of its output that shows the cause, if there is one. */
  line?: string;
  /** Last lines of its output, redacted, oldest first; at most 40 of at most 500 characters. */
  log_tail: string[];
}

/** The progress of a start. Bytes only if they are known. */
export interface StartProgress {
  phase: 'downloading' | 'loading';
  bytes?: number;
  total_bytes?: number;
}

/** The accelerators that one instance takes. */
export interface InstanceDevices {
  /** Null if the spec names none, and the target may use any. */
  accelerator: string | null;
  count: number;
}

/** An accelerator of a target's host. */
export interface Device {
  /** Stable over reboots; assignments are stored by it. */
  uuid: string;
  /** By PCI bus; may change at a reboot. */
  index: number;
  name: string;
  /** Null if the host does not report it. */
  memory_mb: number | null;
  used_mb: number | null;
  /** False while it is stuck or broken: nothing is started on it. `problem` has the reason. */
  is_usable: boolean;
  problem?: string;
  /** Memory in MiB that processes hold which the target has not started. */
  foreign_mb: number;
}
