/**
 * Why an instance is in the state a driver saw it in. A closed list: what is not in it has no reason, only a message. A
 * driver uses the words that its target can tell apart; programs may act on them, people read the message beside it.
 */
export const OBSERVATION_REASONS = [
  // It waits for a place.
  'quota_exceeded',
  'admission_denied',
  'invalid_template',
  'unschedulable',
  'gated',
  'image_pull_failed',
  'config_error',
  // It starts.
  'loading_weights',
  'init_failed',
  'loading',
  'start_failed',
  'start_timeout',
  // It runs, and does not answer.
  'probe_failed',
  // It ended.
  'exited',
  'killed',
  'crash_loop',
  'terminated',
  'replaced',
  'lost',
  // Why it ended or cannot start, as far as the engine or its host says.
  'out_of_memory',
  'gpu_memory',
  'kv_too_small',
  'port_in_use',
  'model_access',
  'model_missing',
  'bad_argument',
  'driver',
  // The place went away under it; nobody's fault.
  'preempted',
  'evicted',
  'node_lost',
  'node_shutdown',
] as const;

export type ObservationReason = (typeof OBSERVATION_REASONS)[number];

/** The place was taken away, the instance is not to blame: it moves, and that counts as no crash. */
export const DISRUPTIONS: ReadonlySet<ObservationReason> = new Set([
  'preempted',
  'evicted',
  'node_lost',
  'node_shutdown',
] as const);
