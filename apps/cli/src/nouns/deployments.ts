import type { Flag, Noun } from './verb.js';
import { DEPLOYMENT, DEPLOYMENT_DETAIL, METRICS } from './views.js';

const SETTINGS: readonly Flag[] = [
  { flags: '--display-name <text>', summary: 'name that people see', body: 'display_name' },
  { flags: '--description <text>', summary: 'what the deployment is for', body: 'description' },
  {
    flags: '--environment <name>',
    summary: 'such as staging; in production, changes need confirmation',
    body: 'environment',
  },
  { flags: '--labels <pairs>', summary: 'labels, such as team=search,tier=1', body: 'labels', as: 'pairs' },
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
      summary: 'List deployments',
      examples: ['slipway deployments list', 'slipway deployments list --label team=search --json name,state'],
      flags: [
        { flags: '--environment <name>', summary: 'only deployments in this environment', query: 'environment' },
        { flags: '--label <pair>', summary: 'only deployments with this label, such as team=search', query: 'label' },
      ],
      isList: true,
      view: DEPLOYMENT,
      call: (client, { options }) => client.deployments.list(options),
    },
    {
      verb: 'get',
      args: '<deployment>',
      summary: 'Show a deployment',
      examples: ['slipway deployments get chat', 'slipway deployments get chat -o yaml'],
      view: DEPLOYMENT_DETAIL,
      call: (client, { args: [name], options }) => client.deployments.get(name!, options),
    },
    {
      verb: 'metrics',
      args: '<deployment>',
      summary: 'Show request metrics by revision',
      examples: [
        'slipway deployments metrics chat',
        'slipway deployments metrics chat --revision chat-00002 --from 2026-01-01T12:00:00Z --to 2026-01-01T13:00:00Z',
        'slipway deployments metrics chat --step 60 --json revision,points',
      ],
      flags: [
        { flags: '--from <time>', summary: 'start of the period (default: 15 minutes before its end)', query: 'from' },
        { flags: '--to <time>', summary: 'end of the period (default: now)', query: 'to' },
        { flags: '--step <seconds>', summary: 'interval between the points in --json', query: 'step', as: 'number' },
        { flags: '--revision <revision>', summary: 'only this revision', query: 'revision' },
      ],
      view: METRICS,
      call: async (client, { args: [name], options }) => (await client.deployments.metrics(name!, options)).data,
    },
    {
      verb: 'create',
      args: '<deployment>',
      summary: 'Create a deployment',
      examples: ['slipway deployments create chat', 'slipway deployments create chat --labels team=search --dry-run'],
      flags: SETTINGS,
      takesBody: true,
      view: DEPLOYMENT,
      call: (client, { args: [name], body, options }) => client.deployments.create({ ...body, name }, options),
      rehearse: (client, { args: [name], body, options }) =>
        client.deployments.rehearseCreate({ ...body, name }, options),
    },
    {
      verb: 'update',
      args: '<deployment>',
      summary: 'Update a deployment: only the given fields change; null in --file removes a field',
      examples: ['slipway deployments update chat --description "For search" --yes'],
      flags: SETTINGS,
      takesBody: true,
      takesIfMatch: true,
      changesDeployment: true,
      view: DEPLOYMENT,
      call: (client, { args: [name], body = {}, options }) => client.deployments.update(name!, body, options),
      rehearse: (client, { args: [name], body = {}, options }) =>
        client.deployments.rehearseUpdate(name!, body, options),
    },
    {
      verb: 'end-drain',
      args: '<deployment>',
      summary: 'Stop the instances that wait for requests in flight now; these requests break',
      examples: ['slipway deployments end-drain chat --yes'],
      confirm: 'yes',
      view: DEPLOYMENT_DETAIL,
      call: (client, { args: [name], options }) => client.deployments.endDrain(name!, options),
    },
    {
      verb: 'delete',
      args: '<deployment>',
      summary: 'Delete a deployment and stop all its instances',
      examples: ['slipway deployments delete chat --yes --wait'],
      takesIfMatch: true,
      confirm: 'name',
      answersOperation: true,
      view: DEPLOYMENT,
      call: (client, { args: [name], options }) => client.deployments.delete(name!, options),
    },
  ],
};
