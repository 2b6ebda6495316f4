import { CliError } from '../exit-codes.js';
import type { Flag, Noun } from './verb.js';
import { DEPLOYMENT, DEPLOYMENT_DETAIL, METRICS, OPERATION } from './views.js';

const SETTINGS: readonly Flag[] = [
  { flags: '--display-name <text>', summary: 'name that people see', body: 'display_name' },
  { flags: '--description <text>', summary: 'what the deployment is for', body: 'description' },
  {
    flags: '--environment <name>',
    summary: 'such as staging; in production, changes need confirmation',
    body: 'environment',
    source: 'environment',
  },
  {
    flags: '-l, --labels <pairs>',
    summary: 'labels, such as team=search,tier=1',
    body: 'labels',
    as: 'pairs',
    source: 'label',
  },
  {
    flags: '--revision-history-limit <count>',
    summary: 'how many revisions to keep',
    body: 'revision_history_limit',
    as: 'number',
  },
  {
    flags: '--default-strategy <json>',
    summary: 'strategy for rollouts that set none',
    body: 'default_strategy',
    as: 'json',
  },
  {
    flags: '--default-analysis <json>',
    summary: 'gate for rollouts that set none, @file, or none',
    body: 'default_analysis',
    as: 'analysis',
  },
  {
    flags: '--protection <json>',
    summary: 'such as {"deletion":true,"rollouts":"approved_plan"}',
    body: 'protection',
    as: 'json',
  },
  {
    flags: '--drain-seconds <seconds>',
    summary: 'how long an instance without traffic waits for its requests in flight',
    body: 'drain_seconds',
    as: 'number',
  },
  {
    flags: '--media-urls <json>',
    summary: 'URLs of media that requests may name, such as {"allow":"data_only","hosts":[]}',
    body: 'media_urls',
    as: 'json',
  },
  { flags: '--scaling <json>', summary: 'fields that override the scaling of revisions', body: 'scaling', as: 'json' },
];

export const deployments: Noun = {
  noun: 'deployments',
  aliases: ['deployment'],
  summary: 'Manage deployments, which serve a model under one name',
  verbs: [
    {
      verb: 'list',
      operation: 'listDeployments',
      summary: 'List deployments',
      examples: ['slipway deployments list', 'slipway deployments list -l team=search --json name,state'],
      flags: [
        {
          flags: '--environment <name>',
          summary: 'only deployments in this environment',
          query: 'environment',
          source: 'environment',
        },
        {
          flags: '-l, --label <pair>',
          summary: 'only deployments with this label, such as team=search',
          query: 'label',
          source: 'label',
        },
        { flags: '--state <state>', summary: 'only deployments in this state', query: 'state' },
        {
          flags: '--search <text>',
          summary: 'only deployments with this text in their names, description or environment',
          query: 'q',
        },
      ],
      view: DEPLOYMENT,
    },
    {
      verb: 'get',
      operation: 'getDeployment',
      summary: 'Show a deployment',
      examples: ['slipway deployments get chat', 'slipway deployments get chat -o yaml'],
      view: DEPLOYMENT_DETAIL,
    },
    {
      verb: 'metrics',
      operation: 'getDeploymentMetrics',
      summary: 'Show request metrics by revision',
      examples: [
        'slipway deployments metrics chat --since 1h',
        'slipway deployments metrics chat --revision chat-00002 --from 2026-01-01T12:00:00Z --to 2026-01-01T13:00:00Z',
        'slipway deployments metrics chat --step 60 --json revision,points',
      ],
      flags: [
        {
          flags: '--from <time>',
          summary: 'start of the period: a time, or how long ago (default: 15m before its end)',
          query: 'from',
          as: 'since',
        },
        { flags: '--since <time>', summary: 'the same as --from', query: 'from', as: 'since' },
        { flags: '--to <time>', summary: 'end of the period (default: now)', query: 'to', as: 'since' },
        { flags: '--step <seconds>', summary: 'interval between the points in --json', query: 'step', as: 'number' },
        { flags: '--revision <revision>', summary: 'only this revision', query: 'revision', source: 'revision' },
      ],
      view: METRICS,
      call: async (client, { args: [name], options }) => (await client.deployments.metrics(name!, options)).data,
    },
    {
      verb: 'create',
      operation: 'createDeployment',
      args: '<deployment>',
      summary: 'Create a deployment',
      examples: ['slipway deployments create chat', 'slipway deployments create chat --labels team=search --dry-run'],
      flags: SETTINGS,
      view: DEPLOYMENT,
      argFields: ['name'],
    },
    {
      verb: 'update',
      operation: 'updateDeployment',
      summary: 'Update a deployment: only the given fields change; null in --file removes a field',
      examples: ['slipway deployments update chat --description "For search" --yes'],
      flags: SETTINGS,
      // It cannot change.
      without: ['name'],
      view: DEPLOYMENT,
    },
    {
      verb: 'scale',
      operation: 'updateDeployment',
      summary: 'Set the number of instances, over that of its revisions; no revision and no rollout is needed',
      examples: [
        'slipway deployments scale chat --replicas 3 --yes',
        'slipway deployments scale chat --min 1 --max 8 --yes',
        'slipway deployments scale chat --reset --dry-run',
      ],
      flags: [
        { flags: '--replicas <count>', summary: 'exactly so many instances', as: 'number' },
        { flags: '--min <count>', summary: 'at least so many instances; 0 lets it sleep', as: 'number' },
        { flags: '--max <count>', summary: 'at most so many instances, if the number follows the load', as: 'number' },
        { flags: '--reset', summary: 'use the numbers of the revision again', as: 'flag' },
      ],
      takesBody: false,
      view: DEPLOYMENT_DETAIL,
      bodyOf: ({ flags }) => ({ scaling: scalingOf(flags) }),
    },
    {
      verb: 'restart',
      operation: 'restartDeployment',
      summary: 'Restart the instances that serve, one after the other; the route stays',
      examples: [
        'slipway deployments restart chat --reason "new certificate" --yes --wait',
        'slipway deployments restart chat --dry-run',
      ],
      flags: [
        { flags: '--reason <text>', summary: 'reason for the restart', body: 'reason' },
        {
          flags: '--hold <time>',
          summary: 'how long a request waits, if there is no capacity for one more instance (default: 60s)',
          body: 'hold_seconds',
          as: 'seconds',
        },
        {
          flags: '--progress-deadline <time>',
          summary: 'how long an instance may take until it is ready (default: 10m, or what its engine needs)',
          body: 'progress_deadline_seconds',
          as: 'seconds',
        },
      ],
      tellsKey: true,
      view: OPERATION,
    },
    {
      verb: 'end-drain',
      operation: 'endDeploymentDrain',
      summary: 'Stop the instances that wait for requests in flight now; these requests break',
      examples: ['slipway deployments end-drain chat --yes'],
      confirm: 'yes',
      view: DEPLOYMENT_DETAIL,
    },
    {
      verb: 'delete',
      operation: 'deleteDeployment',
      summary: 'Delete a deployment and stop all its instances',
      examples: ['slipway deployments delete chat --yes --wait'],
      confirm: 'name',
      view: DEPLOYMENT,
    },
  ],
};

/** The fields that override the scaling of the revisions. A field that is not named stays; null removes all. */
function scalingOf({ replicas, min, max, reset }: Record<string, unknown>): object | null {
  const given = { min_replicas: min ?? replicas, max_replicas: max ?? replicas };
  const isEmpty = given.min_replicas === undefined && given.max_replicas === undefined;
  const isMixed = replicas !== undefined && (min !== undefined || max !== undefined);
  if (isMixed || isEmpty !== (reset === true))
    throw new CliError('Set the number with --replicas, with --min, --max or both, or remove it with --reset.');
  return isEmpty ? null : given;
}
