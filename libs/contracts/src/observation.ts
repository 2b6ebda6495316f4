/**
 * The reasons for the state of an instance, as a driver observed it. A closed list: any other cause has only a message.
 * A driver uses the reasons that its target can distinguish. Programs may act on them; people read the message.
 */
export const OBSERVATION_REASONS = [
  // Its target as a whole can be neither read nor changed.
  'target_unavailable',
  // It waits for capacity.
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
  // It runs but does not answer.
  'probe_failed',
  // It answers, but has nothing at its health path.
  'health_path_missing',
  // It answers, but no request with a result.
  'request_refused',
  // It answers, but has another model than the one it was adopted for.
  'model_changed',
  // The operator's configuration, or another tenant's instance, forbids calls to it.
  'not_allowed',
  // It ended.
  'exited',
  'killed',
  'crash_loop',
  'terminated',
  'replaced',
  'lost',
  // The cause of its end or failed start, as far as the engine or its host reports it.
  'out_of_memory',
  'gpu_memory',
  'kv_too_small',
  'port_in_use',
  'model_access',
  'model_missing',
  'bad_argument',
  'program_not_found',
  'driver',
  // The host or a person took its place away; no fault of the instance.
  'preempted',
  'evicted',
  'deleted',
  'node_lost',
  'node_shutdown',
] as const;

export type ObservationReason = (typeof OBSERVATION_REASONS)[number];

/** The instance lost its place through no fault of its own: it moves, and that counts as no crash. */
export const DISRUPTIONS: ReadonlySet<ObservationReason> = new Set([
  'preempted',
  'evicted',
  'deleted',
  'node_lost',
  'node_shutdown',
] as const);

/**
 * There is no capacity for it. A node or a larger quota may come at any time, so a wait for the instance continues
 * until its deadline.
 */
export const CAPACITY_REASONS: ReadonlySet<ObservationReason> = new Set([
  'quota_exceeded',
  'unschedulable',
  'gated',
] as const);

/**
 * A person has to fix these, and may do so during the wait, for example by pushing the image: a wait for the instance
 * continues for a minute.
 */
export const FIXABLE_REASONS: ReadonlySet<ObservationReason> = new Set([
  'admission_denied',
  'invalid_template',
  'image_pull_failed',
  'config_error',
] as const);

/**
 * No waiting fixes these: a person has to change the spec, the host or the server. A wait for the instance may stop.
 */
export const PERMANENT_REASONS: ReadonlySet<ObservationReason> = new Set([
  'health_path_missing',
  'request_refused',
  'model_changed',
  'program_not_found',
  'bad_argument',
  'model_missing',
  'model_access',
  'kv_too_small',
  'driver',
] as const);
