// Dashboards of the path of inference requests.
import { areas, lines, query, valuesOf } from './panels.mjs';

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

export const INFERENCE = [
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
];
