import type { DeploymentFacts, Operation, Schemas } from '@slipway/sdk';
import { actorText } from '../actors.js';
import { clock, counted } from '../progress/text.js';
import { choicesOf, waitingFor, whyOf, type Waiter } from '../progress/waiting.js';
import { ageOf, type Column, type View } from '../table.js';
import { gateText, isUnguarded, stepTexts, strategyText, wayOf } from './plans/plan-way.js';
import { assumptionsHoldText, newestResultsText, outcomesText } from './plans/plan-outcomes.js';
import { assumptionsText, hourlyText, planCostText, predictionText } from './plans/plan-prediction.js';
import type { RolloutRow } from './rollout-rows.js';

/** How long ago a row was created. */
const AGE: Column = { title: 'AGE', of: ({ created_at: at }: { created_at: string }) => ageOf(at), isOfList: true };

export const OPERATION: View = {
  name: 'id',
  columns: [
    { title: 'ID', of: 'id' },
    { title: 'KIND', of: 'kind' },
    { title: 'RESOURCE', of: 'resource_name' },
    { title: 'STATUS', of: 'status' },
    { title: 'STEP', of: 'current_step' },
    { title: 'PROGRESS', of: ({ progress }: Operation) => `${progress}%` },
    AGE,
    { title: 'MESSAGE', of: 'message', isText: true },
    { title: 'WAITING FOR', of: waitingFor, isWide: true },
    {
      title: 'NEXT',
      of: (row: Operation) => (row.kind === 'rollout' ? nextOf(row, row.resource_name) : []),
      isWide: true,
    },
    { title: 'ERROR', of: 'error_code', isWide: true },
    { title: 'CREATED', of: 'created_at', isWide: true },
    { title: 'COMPLETED', of: 'completed_at', isWide: true },
  ],
};

export const REHEARSAL: View = {
  name: 'would',
  columns: [
    { title: 'VALID', of: 'valid' },
    { title: 'WOULD', of: 'would' },
    { title: 'STEPS', of: 'steps' },
    { title: 'DIFF', of: 'diff' },
  ],
};

/** The commands that continue what waits. */
const nextOf = (row: Waiter, deployment: string): string => choicesOf(row, deployment).join('; ');

const percent = (value: number | null | undefined): string | undefined =>
  typeof value === 'number' ? `${value}%` : undefined;

export const ROLLOUT: View = {
  name: 'id',
  columns: [
    { title: 'ID', of: 'id' },
    { title: 'DEPLOYMENT', of: 'resource_name' },
    { title: 'REVISION', of: 'revision' },
    { title: 'STATUS', of: 'status' },
    { title: 'WAITING FOR', of: waitingFor },
    { title: 'STEP', of: 'current_step' },
    { title: 'SHARE', of: ({ share_percent }: RolloutRow) => percent(share_percent) },
    AGE,
    { title: 'NEXT', of: (row: RolloutRow) => nextOf(row, row.resource_name), isText: true },
    { title: 'STRATEGY', of: 'strategy', isWide: true },
    { title: 'MESSAGE', of: 'message', isWide: true },
  ],
};

export const HISTORY: View = {
  name: 'id',
  columns: [
    { title: 'COMPLETED', of: 'completed_at' },
    { title: 'KIND', of: 'kind' },
    { title: 'REVISION', of: 'revision' },
    { title: 'STRATEGY', of: 'strategy' },
    { title: 'OUTCOME', of: 'outcome' },
    { title: 'BY', of: ({ requested_by }: RolloutRow) => actorText(requested_by) },
    {
      title: 'DURATION',
      of: ({ duration_seconds: seconds }: RolloutRow) => (seconds === null ? undefined : clock(1_000 * seconds)),
    },
    { title: 'REASON', of: 'reason', isText: true },
    { title: 'ID', of: 'id', isWide: true },
    { title: 'MESSAGE', of: 'message', isWide: true },
    { title: 'BAKE', of: 'result.bake_operation_id', isWide: true },
  ],
};

/** In the form that `--labels` takes. */
const pairsOf = (labels: Record<string, string> = {}): string[] =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`);

/** The same as `shownDeploymentState` of the SDK, which loads on first use, and no cell of a table can wait for it. */
function deploymentState(deployment: DeploymentFacts): string {
  const { state, active_revision, candidate_revision, previous_revision, current_operation_id } = deployment;
  const hasNothing = !active_revision && !candidate_revision && !previous_revision && !current_operation_id;
  return state === 'creating' && hasNothing ? 'empty' : state;
}

export const DEPLOYMENT: View = {
  name: 'name',
  columns: [
    { title: 'NAME', of: 'name' },
    { title: 'STATE', of: deploymentState, field: 'state' },
    { title: 'ACTIVE', of: 'active_revision' },
    { title: 'CANDIDATE', of: 'candidate_revision' },
    {
      title: 'REPLICAS',
      of: ({ replicas }: Partial<Schemas['DeploymentDto']>) => `${replicas?.ready ?? 0}/${replicas?.desired ?? 0}`,
    },
    { title: 'ENVIRONMENT', of: 'environment' },
    { title: 'WAITING FOR', of: waitingFor },
    AGE,
    { title: 'OPERATION', of: 'current_operation_id', isWide: true },
    { title: 'PREVIOUS', of: 'previous_revision', isWide: true },
    { title: 'LABELS', of: ({ labels }: Partial<Schemas['DeploymentDto']>) => pairsOf(labels), isWide: true },
    { title: 'DISPLAY NAME', of: 'display_name', isWide: true },
    { title: 'DESCRIPTION', of: 'description', isWide: true },
    { title: 'CREATED', of: 'created_at', isWide: true },
    { title: 'ETAG', of: 'etag', isWide: true },
  ],
};

interface DrainState {
  draining?: { requests?: number; revisions?: { revision: string; requests: number; until: string }[] } | null;
}

/** `chat-00001: 3 requests until 2026-01-01T12:00:00Z` */
const drainingOf = ({ draining }: DrainState): string[] | undefined =>
  draining?.revisions?.map(
    ({ revision, requests, until }) => `${revision}: ${counted(requests, 'request')} until ${until}`,
  );

interface StartFailure {
  last_failed_start?: {
    revision: string;
    instance_id: string;
    at: string;
    cause: string;
    message: string;
    remediation: string;
  } | null;
}

/** The cause first: `gpu_memory: it ended with code 1 (ins_1 of chat-00002, 2026-01-01T12:00:00Z)` */
const failedStartOf = ({ last_failed_start: start }: StartFailure): string | undefined =>
  start ? `${start.cause}: ${start.message} (${start.instance_id} of ${start.revision}, ${start.at})` : undefined;

interface CostState {
  cost?: { per_hour: { amount: number; currency: string } | null; devices: number; accelerator: string | null } | null;
}

/** `0.80 EUR/h, 1 x nvidia-l4` or `no price, 1 x nvidia-l4` */
const costOf = ({ cost }: CostState): string | undefined =>
  cost ? `${hourlyText(cost.per_hour)}, ${cost.devices} x ${cost.accelerator ?? 'device'}` : undefined;

/** One deployment: also what it costs, why it waits, what to type, and what it still drains. */
export const DEPLOYMENT_DETAIL: View = {
  name: DEPLOYMENT.name,
  columns: DEPLOYMENT.columns.flatMap((column) =>
    column.title === 'WAITING FOR'
      ? [
          { title: 'COST', of: costOf },
          { title: 'WAITING FOR', of: (row: Waiter) => whyOf(row) },
          { title: 'NEXT', of: (row: Waiter & { name: string }) => nextOf(row, row.name) },
          { title: 'DRAINING', of: drainingOf },
          { title: 'FAILED START', of: failedStartOf },
          { title: 'REMEDY', of: 'last_failed_start.remediation' },
        ]
      : [column],
  ),
};

const columnsOf = (shown: string, wide = '', text = ''): View['columns'] => [
  ...columnsNamed(shown, {}),
  ...columnsNamed(text, { isText: true }),
  ...columnsNamed(wide, { isWide: true }),
];

/** `STATE TARGET=target.deployment`: a title alone names the field. */
const columnsNamed = (words: string, more: { isText?: true; isWide?: true }): View['columns'] =>
  words
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      if (word === AGE.title) return AGE;
      const [title, of = title!.toLowerCase()] = word.split('=');
      return { title: title!.replaceAll('_', ' '), of, ...more };
    });

const viewOf = (name: string, shown: string, wide?: string, text?: string): View => ({
  name,
  columns: columnsOf(shown, wide, text),
});

/** Of an operation that has no view of its own. */
export const ANYTHING = viewOf('id', 'ID NAME STATE STATUS AGE');
export const REVISION = viewOf(
  'name',
  'NAME STATE MODEL=spec.model.id TARGET=spec.runtime.target ENGINE=spec.runtime.engine READY=ready_at AGE',
  'ID NUMBER CREATED=created_at DIGEST=spec_digest SPEC',
  'MESSAGE',
);
export const DIFF = viewOf('to', 'FROM TO PATCH');
export const ROUTE: View = {
  name: 'deployment',
  columns: [
    { title: 'DEPLOYMENT', of: 'deployment' },
    {
      title: 'TARGETS',
      of: ({ targets = [] }: Partial<Schemas['RouteDto']>) =>
        targets.map(({ revision, weight }) => `${revision}=${weight}`),
    },
    ...columnsOf('GENERATION REASON UPDATED=updated_at ETAG'),
  ],
};
export const POLICY = viewOf('deployment', 'DEPLOYMENT MODE VERSION SLOS UPDATED=updated_at ETAG');
/** Versions of one policy. */
export const POLICY_VERSION = viewOf(
  'version',
  'VERSION MODE UPDATED=updated_at BY=updated_by.id',
  'DEPLOYMENT SLOS ETAG',
);
export const INSTANCE = viewOf(
  'id',
  'ID REVISION STATE TARGET LOCATION=place IN_FLIGHT=in_flight RESTARTS STARTED=started_at',
  'ORDINAL GENERATION DEVICES DRIFT FAILURE',
  'MESSAGE',
);
export const EVENT: View = {
  name: 'id',
  columns: [
    { title: 'SEQUENCE', of: 'sequence' },
    // Room for a time and its age, and for most types: events that are followed come one by one.
    { title: 'TIME', of: 'time', width: 36 },
    { title: 'TYPE', of: 'type', width: 28 },
    { title: 'ACTOR', of: 'actor', width: 8 },
    ...columnsOf('', 'ID REVISION=revisionid OPERATION=operationid', 'DATA'),
  ],
};
export const EVENT_TYPE = viewOf('type', 'TYPE', 'DATA', 'WHEN');
const share = (rate: number | null | undefined): unknown =>
  typeof rate === 'number' ? `${+(rate * 100).toFixed(2)}%` : rate;
export const METRICS: View = {
  name: 'revision',
  columns: [
    ...columnsOf('REVISION REQUESTS/S=total.requests_per_s'),
    { title: 'ERRORS', of: ({ total }: Partial<Schemas['RevisionMetricsDto']>) => share(total?.error_rate?.rate) },
    ...columnsOf(
      'TTFT_P95=total.ttft_ms.p95 ITL_P95=total.itl_ms.p95 E2E_P95=total.e2e_latency_ms.p95 TOKENS/S=total.tokens_out_per_s IN_FLIGHT=in_flight',
      'INSTANCES=total.instances OK=total.attempts.ok CLIENT_ERRORS=total.attempts.client_error OVERLOADED=total.attempts.overloaded ABANDONED=total.attempts.abandoned TTFT_P50=total.ttft_ms.p50 TTFT_P99=total.ttft_ms.p99 E2E_P50=total.e2e_latency_ms.p50 E2E_P99=total.e2e_latency_ms.p99 GAP_P95=total.longest_gap_ms.p95 HELD=held',
    ),
  ],
};
type Plan = Partial<Schemas['PlanDto']>;
const decisionsOf = ({ approval }: Plan): string[] =>
  [...(approval?.approvals ?? []), ...(approval?.ended ? [approval.ended] : [])].map(({ by }) => actorText(by) ?? '');

export const PLAN: View = {
  name: 'id',
  columns: [
    ...columnsOf('ID DEPLOYMENT STATE=approval.state RISK=risk.level'),
    { title: 'STRATEGY', of: (plan: Plan) => strategyText(wayOf(plan)), isText: true },
    { title: 'STEPS', of: (plan: Plan) => stepTexts(wayOf(plan)).join('; '), isWide: true },
    {
      title: 'GATE',
      of: (plan: Plan) => (isUnguarded(wayOf(plan)) ? 'NONE: all traffic at once' : gateText(wayOf(plan))),
      isText: true,
    },
    { title: 'TARGET', of: (plan: Plan) => wayOf(plan)?.target },
    { title: 'BY', of: ({ created_by }: Plan) => actorText(created_by), isText: true },
    { title: 'RESULT', of: newestResultsText, isText: true },
    ...columnsOf('STALE EXPIRES=expires_at AGE'),
    ...columnsOf('', 'KIND'),
    { title: 'PREDICTED', of: predictionText, isWide: true },
    { title: 'COST', of: planCostText, isWide: true },
    { title: 'ASSUMES', of: assumptionsText, isWide: true },
    { title: 'OUTCOMES', of: outcomesText, isWide: true },
    { title: 'ASSUMPTIONS', of: assumptionsHoldText, isWide: true },
    { title: 'DECIDED BY', of: decisionsOf, isWide: true },
    ...columnsOf('', 'BASE=base_revision DIGEST=content_digest CREATED=created_at CHANGES', 'SUMMARY'),
  ],
};
export const SANDBOX = viewOf(
  'id',
  'ID PROVIDER STATE FILES=workspace.file_count BYTES=workspace.bytes_used EXPIRES=expires_at AGE',
  'REFERENCE=reference_id LABELS CREATED=created_at ETAG',
);
export const FILE = viewOf(
  'path',
  'PATH BYTES=size_bytes MODE MODIFIED=modified_at SYNC',
  'SHA256 SYNC_ERROR=sync_error',
);
export const REFERENCE = viewOf(
  'id',
  'ID PROVIDER EXTERNAL=external_id STATE SANDBOX=sandbox_id URL=base_url AGE',
  'EGRESS=egress_allowed CREATED=created_at REVOKED=revoked_at',
);
export const PRODUCT = viewOf(
  'id',
  'ID SLUG STATE NAME=display_name AGE',
  'CONTEXT=context_length MODALITIES PRICING CREATED=created_at ETAG',
);
export const BINDING = viewOf(
  'id',
  'ID PRODUCT=product_id STATE DEPLOYMENT=target.deployment REVISION=target.revision SUPPLIER=target.supplier DRIFTED AGE',
  'CHECKED=qualification.checked_at CHECKS=qualification.checks CREATED=created_at',
);
export const PUBLICATION = viewOf(
  'id',
  'ID SLUG STATE VERSION PRODUCT=product_id AGE',
  'BINDINGS AUDIENCE SHARES_PREFIX_CACHE=shares_prefix_cache NOTES CREATED=created_at',
);
export const CATALOG = viewOf(
  'id',
  'ID SLUG NAME AVAILABILITY MODEL=endpoint.model CONTEXT=context_length',
  'URL=endpoint.base_url SHARES_PREFIX_CACHE=shares_prefix_cache PERFORMANCE PRICING',
  'DESCRIPTION',
);
export const PASSPORT = viewOf(
  'id',
  'ID STATE DEPLOYMENT=affinity.deployment MODE=affinity.mode REVISION=affinity.revision TARGET=affinity.target EXPIRES=expires_at',
  'SUBJECT GUARANTEE=affinity.guarantee SOURCE=session.source STATS LAST_SEEN=last_seen_at',
);
export const TARGET: View = {
  name: 'name',
  columns: [
    ...columnsOf('NAME KIND STATUS IN_USE=capacity.in_use MAX=capacity.max_instances'),
    { title: 'ENGINES', of: ({ engines = [] }: Partial<Schemas['TargetDto']>) => engines.map(({ name }) => name) },
    ...columnsOf('', 'CONDITIONS DEVICES REMOVED'),
  ],
};
export const TOKEN = viewOf(
  'id',
  'ID NAME STATE SCOPES OWNER=owner.id EXPIRES=expires_at LAST_USED=last_used_at AGE',
  'CREATED=created_at BY=created_by REVOKED=revoked_at REPLACED_BY=replaced_by',
);
/**
 * A value that is shown only once is the first column, and the only output of
 * `-o name`: TOKEN=$(slipway tokens create …)
 */
export const CREATED_TOKEN: View = { name: 'token', columns: [...columnsOf('TOKEN'), ...TOKEN.columns] };
/** The answer to a deletion. */
export const DELETED = viewOf('id', 'ID STATE');
export const DELETED_FILE = viewOf('path', 'PATH STATE');
export const TENANT = viewOf('id', 'ID NAME ORGANIZATIONS=external_organization_ids CREATED=created_at');
export const CREATED_TENANT = viewOf('token', 'TOKEN ID NAME');
export const ACCESS = viewOf(
  'id',
  'ID PROVIDER ORGANIZATION=external_organization_id USER=external_user_id STATUS SCOPES',
  'NAME=display_name UPDATED=updated_at',
);
export const WEBHOOK = viewOf(
  'id',
  'ID STATE URL EVENTS=event_types DEPLOYMENTS AGE',
  'DISABLED=disabled_reason PAUSED_UNTIL=paused_until CREATED=created_at',
  'DESCRIPTION PREVIOUS_SECRET_UNTIL=previous_secret_until ETAG',
);
export const CREATED_WEBHOOK: View = { ...WEBHOOK, columns: [...columnsOf('SECRET'), ...WEBHOOK.columns] };
export const ROTATED_WEBHOOK: View = {
  name: 'secret',
  columns: columnsOf('SECRET PREVIOUS_UNTIL=previous_secret_until ID URL'),
};
export const DELIVERY = viewOf(
  'event_id',
  'EVENT=event_id TYPE=event_type STATUS ATTEMPTS RESPONSE=response_status ERROR AGE',
  'DURATION_MS=duration_ms CREATED=created_at LAST=last_attempt_at NEXT=next_attempt_at',
);
export const AUDIT = viewOf(
  'id',
  'SEQUENCE AT ACTOR ACTION TYPE=resource_type NAME=resource_name',
  'ID READS REQUEST=request_id HASH',
);
const aliveOf = (processes: { is_alive: boolean }[] | null | undefined): unknown =>
  processes && `${processes.filter(({ is_alive }) => is_alive).length}/${processes.length}`;
export const SYSTEM: View = {
  name: 'version',
  columns: [
    ...columnsOf(
      'VERSION NODE=node_version STARTED=started_at POSTGRES=database.version LATENCY_MS=database.latency_ms',
    ),
    ...columnsOf('SCHEMA=schema.newest QUEUE=queue.backend UNSENT=queue.outbox.waiting DUE=queue.operations.due'),
    ...columnsOf(
      'OLDEST_DUE_S=queue.operations.oldest_due_seconds RUNNING=queue.operations.running ASLEEP=queue.operations.asleep',
    ),
    { title: 'WORKERS ALIVE', of: ({ workers }: Partial<Schemas['SystemDto']>) => aliveOf(workers) },
    { title: 'GATEWAYS ALIVE', of: ({ gateways }: Partial<Schemas['SystemDto']>) => aliveOf(gateways) },
  ],
};
export const WHO = viewOf(
  'actor.id',
  'ACTOR=actor.id TYPE=actor.type TENANT=tenant.name OPERATOR=tenant.is_operator SCOPES OWNER=owner.id',
);
