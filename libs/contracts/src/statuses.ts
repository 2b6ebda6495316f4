/* The names of statuses. Each list is the column's check constraint, the enum of the OpenAPI document and the type. */

export const OPERATION_STATUSES = [
  'pending',
  'running',
  'waiting',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/** The kinds of operations. */
export const OPERATION_KINDS = [
  'rollout',
  'rollback',
  'bake',
  'restart',
  'delete_deployment',
  'qualify_target_binding',
  'sandbox_file_push',
] as const;

/** Reasons why an operation waits. */
export const WAITING_FOR = ['soak', 'traffic', 'capacity', 'approval', 'decision', 'resume'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

/** Those that only a person ends. */
export const PERSON_WAITS = ['approval', 'decision', 'resume'] as const satisfies readonly WaitingFor[];

/** An operation in one of these has ended. Its row is frozen; only a retry brings a failed one back. */
export const TERMINAL_STATUSES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly OperationStatus[];
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export const LIVE_STATUSES = [
  'pending',
  'running',
  'waiting',
  'cancelling',
] as const satisfies readonly OperationStatus[];

/** `undone`: the step had succeeded, and the unwind removed its effect. A retry runs it again. */
export const STEP_STATUSES = [
  'pending',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'skipped',
  'cancelled',
  'undone',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const DEPLOYMENT_STATES = [
  'creating',
  'active',
  'progressing',
  'paused',
  'degraded',
  'failed',
  'deleting',
] as const;
export type DeploymentState = (typeof DEPLOYMENT_STATES)[number];

export const REVISION_STATES = [
  'pending',
  'provisioning',
  'ready',
  'active',
  'standby',
  'draining',
  'retired',
  'failed',
] as const;
export type RevisionState = (typeof REVISION_STATES)[number];

/** Returns a list for SQL: `'succeeded','failed'`. Only for the constant lists of this file. */
export function sqlList(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(',');
}
