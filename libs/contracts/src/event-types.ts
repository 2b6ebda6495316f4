export interface EventDescription {
  /** When it is appended. */
  when: string;
  /** The fields of `data`. A name that ends in `?` is not always there. */
  data: readonly string[];
}

const DEPLOYMENT = ['deployment_id', 'name'];
const REVISION = ['revision', 'revision_id', 'number', 'spec_digest'];
const INSTANCE = ['revision', 'instance_id', 'ordinal', 'generation'];
const SEEN = ['message', 'reason', 'place'];
const OF_OPERATION = ['operation_id', 'revision'];
const OPERATION = ['operation_id', 'kind', 'resource_name'];
const PLAN = ['plan_id', 'content_digest'];
const DECISION = [...PLAN, 'state', 'comment', 'approvals', 'approvals_required'];
const ADVICE = ['revision', 'policy_version', 'window', 'slos'];
const FINDING = [...ADVICE, 'because', 'message', 'proposed', 'evidence'];

/**
 * Every type of event. Filters, webhooks and the documentation follow this list, and a rule of tools/lint compares it
 * with the code. A type never gets another meaning, and fields are only added.
 */
export const EVENT_TYPES: Readonly<Record<string, EventDescription>> = {
  'deployment.created': { when: 'a deployment was created', data: [...DEPLOYMENT, 'environment', 'labels'] },
  'deployment.updated': { when: 'settings of a deployment were changed', data: [...DEPLOYMENT, 'changes'] },
  'deployment.drain_ended': {
    when: 'an operator ended the drains of a deployment',
    data: [...DEPLOYMENT, 'revisions', 'requests'],
  },
  'deployment.scaled': {
    when: 'the number of its instances was changed',
    data: [
      'revision',
      'from',
      'to',
      'reason',
      'in_flight',
      'held',
      'target_in_flight',
      'waiting',
      'kv_usage',
      'cause?',
      'failures?',
    ],
  },
  'revision.created': { when: 'a rollout created a revision', data: REVISION },
  'revision.ready': { when: 'a revision was proven ready', data: REVISION },
  'revision.failed': {
    when: 'a revision did not become ready; the operation has the message',
    data: [...REVISION, 'error_code'],
  },
  'revision.misconfigured': {
    when: 'its model servers refuse the requests of the gateways: `fault` is `credential`, `model_missing` or `redirect`; at most once an hour for each',
    data: ['revision', 'fault', 'attempts', 'message'],
  },
  'revision.retired': { when: 'a revision no longer serves', data: REVISION },
  'target_binding.misconfigured': {
    when: 'a server behind a slug refuses the requests of the gateways, with the same `fault`; at most once an hour for each',
    data: ['target_binding_id', 'slug', 'fault', 'attempts', 'message'],
  },
  'route.updated': {
    when: 'the shares of a route were changed',
    data: ['generation', 'targets', 'affinity', 'reason', 'hold?'],
  },
  'rollout.started': {
    when: 'a rollout started; `steps` lists its steps',
    data: [...OF_OPERATION, 'strategy', 'steps', 'gate', 'reason'],
  },
  'rollout.step_advanced': {
    when: 'a step of a rollout changed its status',
    data: ['operation_id', 'step', 'index', 'status', 'progress'],
  },
  'rollout.paused': {
    when: 'a rollout waits for a person; `reason` is `person`, `pause`, `approval` or a verdict',
    data: [...OF_OPERATION, 'step', 'reason'],
  },
  'rollout.analysis_completed': {
    when: 'a gate has decided, with each metric and each guard',
    data: [...OF_OPERATION, 'step', 'verdict', 'metrics', 'guards', 'window', 'gateways?'],
  },
  'rollout.promoted': {
    when: 'the candidate became the active revision; `plan_id` is that of the plan, if it executed one',
    data: [...OF_OPERATION, 'plan_id?'],
  },
  'rollout.reverted': {
    when: 'a failed or cancelled rollout restored the previous route; the operation has the message',
    data: [...OF_OPERATION, 'outcome', 'error_code?', 'plan_id?'],
  },
  'rollback.started': {
    when: 'a rollback started',
    data: [...OF_OPERATION, 'because', 'superseded_operation_id', 'reason'],
  },
  'rollback.completed': { when: 'a rollback ended', data: [...OF_OPERATION, 'outcome'] },
  'restart.started': {
    when: 'a restart of the instances of a deployment started',
    data: ['operation_id', 'revisions', 'instances', 'reason'],
  },
  'restart.completed': {
    when: 'a restart ended; `restarted` counts the instances',
    data: ['operation_id', 'revisions', 'restarted', 'outcome'],
  },
  'instance.ready': { when: 'an instance responds to its probe and is offered to the gateways', data: INSTANCE },
  'instance.unhealthy': { when: 'an instance misses its probes and gets no requests', data: [...INSTANCE, ...SEEN] },
  'instance.crashed': {
    when: 'an instance ended, and starts again after a back-off. With `cause` its start failed; of starts that fail in the same way, only the first is reported',
    data: [...INSTANCE, ...SEEN, 'exit_code', 'restarts', 'restarts_in_seconds', 'cause?'],
  },
  'instance.drifted': {
    when: 'an adopted server has another model now, or another program changed the instance at its target',
    data: [...INSTANCE, ...SEEN],
  },
  'instance.abandoned': {
    when: 'the operator gave up an instance that can no longer be reached (`abandoned_targets`)',
    data: [...INSTANCE, 'message'],
  },
  'instance.moved': {
    when: 'an instance lost its host, or another client of its target removed it, and it starts again; it did not crash',
    data: [...INSTANCE, ...SEEN, 'from'],
  },
  'operation.paused': { when: 'a person paused an operation', data: [...OPERATION, 'reason'] },
  'operation.resumed': { when: 'a person ended a pause', data: [...OPERATION, 'reason'] },
  'operation.promoted': { when: 'a person passed a step', data: [...OPERATION, 'to', 'step', 'reason'] },
  'operation.status_changed': {
    when: 'an operation changed its status',
    data: [...OPERATION, 'from', 'status', 'reason?'],
  },
  'policy.updated': {
    when: 'the optimization policy of a deployment was changed',
    data: ['deployment', 'version', 'mode', 'digest', 'changes'],
  },
  'autopilot.diagnosed': {
    when: 'the cause of a missed SLO became known or changed; `slos` has each cause with its numbers',
    data: [...ADVICE, 'replicas_needed', 'workload_moved'],
  },
  'autopilot.slo_missed': {
    when: 'an SLO is missed and no plan is proposed, because of `because`. At most once a day for the same reason',
    data: FINDING,
  },
  'autopilot.evidence_insufficient': { when: 'the records are too few for a conclusion', data: FINDING },
  'autopilot.quiet': { when: 'nothing needs to change yet; each reason is reported once', data: [...FINDING, 'until'] },
  'webhook.test': {
    when: 'a test of a webhook was requested; it is sent to that webhook alone, and is in no list of events',
    data: ['webhook_id', 'message'],
  },
  'plan.created': {
    when: 'a plan was created',
    data: [...PLAN, 'base_revision', 'summary', 'changes', 'risk', 'policy_version', 'expires_at'],
  },
  'plan.approved': { when: 'a person approved a plan', data: DECISION },
  'plan.rejected': { when: 'a person rejected a plan', data: DECISION },
  'plan.expired': { when: 'a plan can no longer be approved, because its time has passed', data: PLAN },
  'plan.outcome_recorded': {
    when: 'the effect of an executed plan was measured: soon after its promotion (`phase` is `promotion`), and again later (`window`)',
    data: [...PLAN, 'phase', 'outcomes', 'assumptions_hold'],
  },
  'plan.superseded': { when: 'a plan can no longer be approved, because a newer one replaced it', data: PLAN },
};
