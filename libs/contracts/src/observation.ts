/**
 * Why an instance is in the state a driver saw it in. A closed list: what is not in it has no reason, only a message. A
 * driver uses the words that its target can tell apart; programs may act on them, people read the message beside it.
 */
export const OBSERVATION_REASONS = [
  // Its target as a whole can be neither asked nor told.
  'target_unavailable',
  // It waits for a place.
  'waiting_for_device',
  'waiting_for_place',
  'quota_exceeded',
  'admission_denied',
  'invalid_template',
  'unschedulable',
  'gated',
  'image_pull_failed',
  'config_error',
  // It starts.
  'downloading',
  'loading_weights',
  'init_failed',
  'loading',
  'start_failed',
  'start_timeout',
  // It runs, and does not answer.
  'probe_failed',
  // It answers, and has nothing at the path where it was to be asked.
  'health_path_missing',
  // It answers, and has another model than the one that it was adopted for.
  'model_changed',
  // The operator's configuration, or another tenant's instance, keeps it from being called.
  'not_allowed',
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
  'program_not_found',
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

/** There is no room where it is to run. A node or a larger quota may come at any time, so who waits for the instance does until the deadline. */
export const CAPACITY_REASONS: ReadonlySet<ObservationReason> = new Set([
  'quota_exceeded',
  'unschedulable',
  'gated',
] as const);

/** Somebody has to mend these, and may do so while it waits, as by pushing the image: who waits for the instance does for a minute. */
export const FIXABLE_REASONS: ReadonlySet<ObservationReason> = new Set([
  'admission_denied',
  'invalid_template',
  'image_pull_failed',
  'config_error',
] as const);

/** No waiting mends these: somebody has to change the spec, the host or the server. Who waits for the instance may stop. */
export const PERMANENT_REASONS: ReadonlySet<ObservationReason> = new Set([
  'health_path_missing',
  'model_changed',
  'program_not_found',
  'bad_argument',
  'model_missing',
  'model_access',
  'kv_too_small',
  'driver',
] as const);
