// The dashboards of deploy/observability as short definitions. `node tools/observability/write.mjs` writes their JSON.

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const COLUMNS = 24;
const HEIGHT = 8;
/** Of a row's title. */
const TITLE_HEIGHT = 1;

/** A query with its legend. Without a legend, Grafana shows the labels. */
const query = (expr, legendFormat = '__auto') => ({ expr, legendFormat });

/** A line for each series over time. */
const lines = (title, unit, description, ...queries) => ({ type: 'timeseries', title, unit, description, queries });
/** The same with areas on each other, for parts of a whole. */
const areas = (...definition) => ({ ...lines(...definition), isStacked: true });
/** The last value, red from `red` on. A value below 1 is bad if `isBadBelow`. */
const stat = (title, unit, description, expr, red, isBadBelow = false) => ({
  type: 'stat',
  title,
  unit,
  description,
  queries: [query(expr)],
  red,
  isBadBelow,
});

const percentiles = (metric, by = '') =>
  [0.5, 0.95, 0.99].map((share) =>
    query(
      `histogram_quantile(${share}, sum by (le${by}) (rate(${metric}_bucket{tenant=~"$tenant", revision=~"$revision"}[$__rate_interval])))`,
      `p${share * 100}${by ? ' {{revision}}' : ''}`,
    ),
  );

const OF_REVISION = 'tenant=~"$tenant", revision=~"$revision"';
const requestsBy = (label) =>
  query(`sum by (${label}) (rate(slipway_gateway_requests_total{${OF_REVISION}}[$__rate_interval]))`, `{{${label}}}`);

const valuesOf = (name, label, metric, more = {}) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  definition: `label_values(${metric})`,
  query: { query: `label_values(${metric})`, refId: 'values' },
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { selected: true, text: ['All'], value: ['$__all'] },
  ...more,
});

const TENANT = valuesOf('tenant', 'Tenant', 'slipway_gateway_requests_total, tenant');
/** The name of a revision is that of its deployment and a number. */
const DEPLOYMENT = valuesOf('deployment', 'Deployment', 'slipway_gateway_requests_total{tenant=~"$tenant"}, revision', {
  regex: '/^(.*)-\\d+$/',
});
const REVISION = valuesOf(
  'revision',
  'Revision',
  'slipway_gateway_requests_total{tenant=~"$tenant", revision=~"($deployment)-[0-9]+"}, revision',
);
const TARGET = valuesOf('target', 'Target', 'slipway_instances, target');
const KIND = valuesOf('kind', 'Kind', 'slipway_operations_ended_total, kind');

export const DASHBOARDS = [
  {
    file: 'overview',
    title: 'Slipway / Overview',
    description: 'Whether the installation works: processes, errors, and what waits.',
    rows: [
      [
        'State',
        stat(
          'Alerts',
          'short',
          'Alerts that fire',
          'count(ALERTS{alertname=~"Slipway.*", alertstate="firing"}) or vector(0)',
          1,
        ),
        stat('Postgres', 'short', '1 if a process reaches Postgres', 'max(slipway_database_up)', 1, true),
        stat('Workers', 'short', 'Workers with a heartbeat', 'max(slipway_workers_alive)', 1, true),
        stat('Gateways', 'short', 'Gateways that report', 'max(slipway_gateways_alive)', 1, true),
        stat(
          'Oldest due operation',
          's',
          'How long it has waited for a worker',
          'max(slipway_operations_oldest_due_seconds)',
          60,
        ),
        stat(
          'Last back-up',
          's',
          'Time since the last `npm run backup`',
          'time() - (max(slipway_backup_last_timestamp_seconds) > 0)',
          93_600,
        ),
      ],
      [
        'Traffic',
        lines(
          'Inference requests',
          'reqps',
          'Requests as clients saw them, by result',
          query('sum by (result) (rate(slipway_gateway_requests_total[$__rate_interval]))', '{{result}}'),
        ),
        lines(
          'Failed inference requests',
          'percentunit',
          'Share of requests that failed, or that no instance could get',
          query('slipway:inference_errors:rate5m / slipway:inference_requests:rate5m', 'failed'),
        ),
        lines(
          'Requests to the api',
          'reqps',
          'By status',
          query(
            'sum by (status) (rate(slipway_http_request_duration_seconds_count{route!~"/readyz|/healthz|/metrics"}[$__rate_interval]))',
            '{{status}}',
          ),
        ),
        lines(
          'Failed requests to the api',
          'percentunit',
          'Share of answers with 5xx',
          query('slipway:api_errors:rate5m / slipway:api_requests:rate5m', 'failed'),
        ),
      ],
      [
        'Processes',
        lines(
          'CPU',
          'percentunit',
          'Cores in use',
          query(
            'rate(process_cpu_seconds_total[$__rate_interval]) * on (job, instance) group_left (process) slipway_process_info',
            '{{process}} {{instance}}',
          ),
        ),
        lines(
          'Memory',
          'bytes',
          'Resident memory',
          query(
            'process_resident_memory_bytes * on (job, instance) group_left (process) slipway_process_info',
            '{{process}} {{instance}}',
          ),
        ),
        lines(
          'Heap',
          'bytes',
          'Used part of the heap',
          query(
            'nodejs_heap_size_used_bytes * on (job, instance) group_left (process) slipway_process_info',
            '{{process}} {{instance}}',
          ),
        ),
        lines(
          'Event loop',
          's',
          'p99 of the delay',
          query(
            'nodejs_eventloop_lag_p99_seconds * on (job, instance) group_left (process) slipway_process_info',
            '{{process}} {{instance}}',
          ),
        ),
        lines(
          'Running time',
          's',
          'Since the start of each process',
          query(
            '(time() - process_start_time_seconds) * on (job, instance) group_left (process) slipway_process_info',
            '{{process}} {{instance}}',
          ),
        ),
        lines(
          'Configuration',
          'dateTimeFromNow',
          'When each process loaded its settings',
          query(
            'slipway_config_loaded_timestamp_seconds * 1000 * on (job, instance) group_left (process) slipway_process_info',
            '{{process}} {{instance}}',
          ),
        ),
      ],
    ],
  },
  {
    file: 'gateway',
    title: 'Slipway / Gateway',
    description: 'The path of inference requests, in all gateways together.',
    variables: [TENANT, DEPLOYMENT, REVISION],
    rows: [
      [
        'Requests',
        areas('Results', 'reqps', 'Requests as clients saw them', requestsBy('result')),
        areas(
          'Attempts',
          'reqps',
          'Attempts on instances by outcome',
          query(`sum by (class) (rate(slipway_gateway_attempts_total{${OF_REVISION}}[$__rate_interval]))`, '{{class}}'),
        ),
        lines(
          'Faults',
          'reqps',
          'Failed answers of instances by what was wrong',
          query(`sum by (fault) (rate(slipway_gateway_faults_total{${OF_REVISION}}[$__rate_interval]))`, '{{fault}}'),
        ),
        lines(
          'Retries',
          'percentunit',
          'Share of attempts that were followed by another',
          query(
            `sum(rate(slipway_gateway_retries_total{${OF_REVISION}}[$__rate_interval])) / sum(rate(slipway_gateway_attempts_total{${OF_REVISION}}[$__rate_interval]))`,
            'retried',
          ),
        ),
        lines(
          'Refusals',
          'reqps',
          'Requests that no instance got, by status and code',
          query(
            'sum by (status, code) (rate(slipway_gateway_refusals_total[$__rate_interval]))',
            '{{status}} {{code}}',
          ),
        ),
        lines(
          'Tokens',
          'short',
          'Tokens a second',
          query(
            `sum by (direction) (rate(slipway_gateway_tokens_total{${OF_REVISION}}[$__rate_interval]))`,
            '{{direction}}',
          ),
        ),
      ],
      [
        'Latency',
        lines('Time to first token', 'ms', 'Of streams', ...percentiles('slipway_gateway_ttft_milliseconds')),
        lines('Whole time', 'ms', 'Of good attempts', ...percentiles('slipway_gateway_latency_milliseconds')),
        lines(
          'Time per output token',
          'ms',
          'Of streams, after the first token',
          ...percentiles('slipway_gateway_inter_token_milliseconds'),
        ),
        lines(
          'Longest gap',
          'ms',
          'Between two events of a stream',
          ...percentiles('slipway_gateway_longest_gap_milliseconds'),
        ),
        lines(
          'Output rate',
          'short',
          'Tokens a second of each request',
          ...percentiles('slipway_gateway_output_tokens_per_second'),
        ),
      ],
      [
        'Load',
        lines('In flight', 'short', 'Requests by gateway', query('slipway_gateway_requests_in_flight', '{{instance}}')),
        lines(
          'Held requests',
          'short',
          'Requests that wait for a revision',
          query('sum(slipway_gateway_held_requests)', 'held'),
        ),
        lines(
          'Time of holds',
          's',
          'How long released requests waited',
          query(
            'histogram_quantile(0.95, sum by (le) (rate(slipway_gateway_hold_seconds_bucket[$__rate_interval])))',
            'p95',
          ),
        ),
        lines(
          'Rejected holds',
          'reqps',
          'Waiting requests that were rejected',
          query('sum by (reason) (rate(slipway_gateway_hold_refused_total[$__rate_interval]))', '{{reason}}'),
        ),
        lines(
          'Held bytes',
          'bytes',
          'Bodies in memory; the limit is 512 MiB',
          query('slipway_gateway_held_bytes', '{{instance}}'),
        ),
        lines(
          'Ejected instances',
          'short',
          'Instances that get no requests after failures',
          query(`max by (revision) (slipway_gateway_ejected_instances{${OF_REVISION}})`, '{{revision}}'),
        ),
      ],
      [
        'Snapshot',
        lines(
          'Postgres',
          'short',
          '1 if the last read succeeded',
          query('slipway_gateway_postgres_up', '{{instance}}'),
        ),
        lines(
          'Age',
          's',
          'Since Postgres confirmed the snapshot',
          query('slipway_gateway_snapshot_age_seconds', '{{instance}}'),
        ),
        lines('Routes', 'short', 'Routes in the snapshot', query('slipway_gateway_routes', '{{instance}}')),
        lines(
          'Sessions and tokens',
          'short',
          'In memory',
          query('slipway_gateway_sessions', 'sessions {{instance}}'),
          query('slipway_gateway_known_tokens', 'tokens {{instance}}'),
        ),
        lines(
          'Lost',
          'short',
          'Statistics and usage that were dropped',
          query('increase(slipway_gateway_lost_windows_total[$__rate_interval])', 'windows {{instance}}'),
          query('increase(slipway_gateway_lost_usage_total[$__rate_interval])', 'usage {{instance}}'),
        ),
      ],
    ],
  },
  {
    file: 'deployments',
    title: 'Slipway / Deployments',
    description: 'Revisions of a deployment next to each other.',
    variables: [TENANT, DEPLOYMENT, REVISION],
    rows: [
      [
        'Traffic',
        areas('Requests', 'reqps', 'Requests by revision', requestsBy('revision')),
        lines(
          'Failures',
          'percentunit',
          'Share of requests that failed, by revision',
          query(
            `sum by (revision) (rate(slipway_gateway_requests_total{${OF_REVISION}, result="failed"}[$__rate_interval])) / sum by (revision) (rate(slipway_gateway_requests_total{${OF_REVISION}}[$__rate_interval]))`,
            '{{revision}}',
          ),
        ),
        lines(
          'In flight',
          'short',
          'Requests by revision',
          query(`sum by (revision) (slipway_gateway_revision_in_flight{${OF_REVISION}})`, '{{revision}}'),
        ),
        lines(
          'Overloaded and abandoned',
          'reqps',
          'Requests that an engine refused for load, or that the client left',
          query(
            `sum by (revision, result) (rate(slipway_gateway_requests_total{${OF_REVISION}, result=~"overloaded|abandoned"}[$__rate_interval]))`,
            '{{revision}} {{result}}',
          ),
        ),
      ],
      [
        'Latency',
        lines(
          'Time to first token',
          'ms',
          'By revision',
          ...percentiles('slipway_gateway_ttft_milliseconds', ', revision'),
        ),
        lines('Whole time', 'ms', 'By revision', ...percentiles('slipway_gateway_latency_milliseconds', ', revision')),
        lines(
          'Time per output token',
          'ms',
          'By revision',
          ...percentiles('slipway_gateway_inter_token_milliseconds', ', revision'),
        ),
        lines(
          'Output tokens',
          'short',
          'Tokens a second, by revision',
          query(
            `sum by (revision) (rate(slipway_gateway_tokens_total{${OF_REVISION}, direction="out"}[$__rate_interval]))`,
            '{{revision}}',
          ),
        ),
      ],
      [
        'Instances',
        lines(
          'At the maximum',
          'short',
          '1 if the load needs more instances than max_replicas',
          query(`max by (revision) (slipway_scaling_at_maximum{${OF_REVISION}})`, '{{revision}}'),
        ),
        lines(
          'Ejected',
          'short',
          'Instances that get no requests after failures',
          query(`max by (revision) (slipway_gateway_ejected_instances{${OF_REVISION}})`, '{{revision}}'),
        ),
      ],
    ],
  },
  {
    file: 'operations',
    title: 'Slipway / Operations',
    description: 'Long-running work: operations, recurring work, webhooks and the audit log.',
    variables: [KIND],
    rows: [
      [
        'Operations',
        areas('Operations', 'short', 'By state', query('max by (state) (slipway_operations)', '{{state}}')),
        lines(
          'Waiting',
          's',
          'Age of the oldest due operation and wake-up',
          query('max(slipway_operations_oldest_due_seconds)', 'operation'),
          query('max(slipway_outbox_oldest_seconds)', 'wake-up'),
        ),
        lines(
          'Outbox',
          'short',
          'Due wake-ups that are not in the queue',
          query('max(slipway_outbox_waiting)', 'wake-ups'),
        ),
        lines(
          'Ends',
          'short',
          'Operations that ended, by kind and status',
          query(
            'sum by (kind, status) (increase(slipway_operations_ended_total{kind=~"$kind"}[$__rate_interval])) > 0',
            '{{kind}} {{status}}',
          ),
        ),
        lines(
          'Stuck',
          'short',
          'Operations whose undo steps failed',
          query(
            'sum by (kind) (increase(slipway_operations_stuck_total{kind=~"$kind"}[$__rate_interval]))',
            '{{kind}}',
          ),
        ),
        lines(
          'Recurring work',
          'short',
          'Failed runs by task',
          query('sum by (task) (increase(slipway_recurring_failures_total[$__rate_interval])) > 0', '{{task}}'),
        ),
      ],
      [
        'Webhooks',
        lines(
          'Attempts',
          'reqps',
          'Requests to receivers by result',
          query('sum by (result) (rate(slipway_webhook_attempts_total[$__rate_interval]))', '{{result}}'),
        ),
        lines(
          'Queues',
          'short',
          'Streams of webhooks with events to send',
          query('max(slipway_webhook_queues_pending)', 'queues'),
        ),
        lines('Waiting', 's', 'Age of the oldest due queue', query('max(slipway_webhook_oldest_due_seconds)', 'queue')),
        lines(
          'Disabled webhooks',
          'short',
          'By their owner, or because the receiver is gone',
          query('max(slipway_webhooks_disabled)', 'webhooks'),
        ),
      ],
      [
        'Audit and tokens',
        lines(
          'Failed anchors',
          'short',
          'Heads that were not stored outside',
          query('sum(increase(slipway_audit_anchor_failures_total[$__rate_interval]))', 'failures'),
        ),
        lines(
          'Lost reads',
          'short',
          'Reads that the audit log does not have',
          query('sum(increase(slipway_audit_reads_lost_total[$__rate_interval]))', 'reads'),
        ),
        lines(
          'Tokens that end',
          'short',
          'Tokens in use that expire within a week',
          query('max(slipway_tokens_ending)', 'tokens'),
        ),
      ],
    ],
  },
  {
    file: 'targets',
    title: 'Slipway / Targets',
    description: 'Execution targets and their instances.',
    variables: [TARGET],
    rows: [
      [
        'Targets',
        lines(
          'Degraded',
          'short',
          '1 while Slipway cannot work with the target',
          query('max by (target) (slipway_target_degraded{target=~"$target"})', '{{target}}'),
        ),
        lines(
          'Errors',
          'short',
          'Failed work on the target',
          query(
            'sum by (target) (increase(slipway_target_errors_total{target=~"$target"}[$__rate_interval]))',
            '{{target}}',
          ),
        ),
      ],
      [
        'Instances',
        areas(
          'Instances',
          'short',
          'By state',
          query('max by (target, state) (slipway_instances{target=~"$target"})', '{{target}} {{state}}'),
        ),
        lines(
          'Longest in a state',
          's',
          'Of the states that should end',
          query(
            'max by (target, state) (slipway_instances_longest_in_state_seconds{target=~"$target", state!="ready"})',
            '{{target}} {{state}}',
          ),
        ),
      ],
      [
        'Scaling',
        lines(
          'Decisions',
          'short',
          'Changes of the number of instances, by reason',
          query('sum by (reason) (increase(slipway_scaling_decisions_total[$__rate_interval]))', '{{reason}}'),
        ),
        lines(
          'At the maximum',
          'short',
          'Revisions that need more instances than max_replicas',
          query('count(max by (tenant, revision) (slipway_scaling_at_maximum)) or vector(0)', 'revisions'),
        ),
      ],
    ],
  },
  {
    file: 'database',
    title: 'Slipway / Database',
    description: 'Postgres as Slipway sees it. An exporter of Postgres shows the rest.',
    rows: [
      [
        'Postgres',
        lines('Up', 'short', '1 if Postgres answers the process', query('slipway_database_up', '{{instance}}')),
        lines('Size', 'bytes', 'Of the database of Slipway', query('max(slipway_database_size_bytes)', 'size')),
        lines(
          'Connections',
          'short',
          'To the database of Slipway, and the limit of Postgres',
          query('max(slipway_database_connections)', 'connections'),
          query('max(slipway_database_connections_limit)', 'limit'),
        ),
        lines(
          'Back-up',
          's',
          'Time since the last `npm run backup`',
          query('time() - (max(slipway_backup_last_timestamp_seconds) > 0)', 'age'),
        ),
      ],
      [
        'Pools',
        lines(
          'In use',
          'percentunit',
          'Share of the pool of each process',
          query('slipway_database_pool_in_use / slipway_database_pool_limit', '{{instance}}'),
        ),
        lines(
          'Waiting',
          'short',
          'Transactions that wait for a connection',
          query('slipway_database_pool_waiting', '{{instance}}'),
        ),
        lines(
          'Failed reads of metrics',
          'short',
          'Their gauges have no value meanwhile',
          query('sum by (group) (increase(slipway_metrics_read_failures_total[$__rate_interval]))', '{{group}}'),
        ),
        lines(
          'Gateways behind',
          'short',
          'Live gateways without the newest routes',
          query('max(slipway_gateways_behind)', 'gateways'),
        ),
      ],
    ],
  },
];

/** The JSON that Grafana imports. It has no id, so that an import never replaces a dashboard. */
export function dashboardOf({ title, description, variables = [], rows }) {
  const panels = [];
  let y = 0;
  const add = (panel) => panels.push({ id: panels.length + 1, ...panel });
  for (const [rowTitle, ...definitions] of rows) {
    add({
      type: 'row',
      title: rowTitle,
      collapsed: false,
      gridPos: { h: TITLE_HEIGHT, w: COLUMNS, x: 0, y },
      panels: [],
    });
    y += TITLE_HEIGHT;
    const perLine = definitions.every(({ type }) => type === 'stat') ? 6 : definitions.length % 3 === 0 ? 3 : 2;
    const height = perLine === 6 ? HEIGHT / 2 : HEIGHT;
    for (const [index, definition] of definitions.entries()) {
      const [line, column] = [Math.floor(index / perLine), index % perLine];
      const w = COLUMNS / perLine;
      add({ ...panelOf(definition), gridPos: { h: height, w, x: column * w, y: y + line * height } });
    }
    y += Math.ceil(definitions.length / perLine) * height;
  }
  const datasource = {
    name: 'datasource',
    label: 'Prometheus',
    type: 'datasource',
    query: 'prometheus',
    refresh: 1,
    hide: 0,
    options: [],
  };
  return {
    id: null,
    title,
    description,
    tags: ['slipway'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [
      {
        type: 'dashboards',
        title: 'Slipway',
        tags: ['slipway'],
        asDropdown: true,
        includeVars: false,
        keepTime: true,
        targetBlank: false,
        icon: 'external link',
        tooltip: '',
        url: '',
      },
    ],
    annotations: { list: [] },
    templating: { list: [datasource, ...variables] },
    panels,
  };
}

function panelOf({ type, title, description, unit, queries, isStacked = false, red, isBadBelow }) {
  const steps = isBadBelow
    ? [
        { color: 'red', value: null },
        { color: 'green', value: red },
      ]
    : [{ color: 'green', value: null }, ...(red === undefined ? [] : [{ color: 'red', value: red }])];
  const lineStyle = {
    drawStyle: 'line',
    lineWidth: 1,
    fillOpacity: isStacked ? 30 : 5,
    showPoints: 'never',
    stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
  };
  const isStat = type === 'stat';
  return {
    type,
    title,
    description,
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legendFormat }, index) => ({
      refId: String.fromCodePoint('A'.codePointAt(0) + index),
      datasource: DATASOURCE,
      editorMode: 'code',
      expr,
      legendFormat,
      range: !isStat,
      instant: isStat,
    })),
    fieldConfig: {
      defaults: { unit, thresholds: { mode: 'absolute', steps }, ...(isStat ? {} : { min: 0, custom: lineStyle }) },
      overrides: [],
    },
    options: isStat
      ? {
          reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
          colorMode: 'background',
          graphMode: 'none',
          textMode: 'auto',
        }
      : {
          legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
  };
}
