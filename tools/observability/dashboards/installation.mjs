// Dashboards of the installation: the overview, operations, targets and the database.
import { areas, lines, query, stat, valuesOf } from './panels.mjs';

const TARGET = valuesOf('target', 'Target', 'slipway_instances, target');
const KIND = valuesOf('kind', 'Kind', 'slipway_operations_ended_total, kind');

export const INSTALLATION = [
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
