import type { Noun } from './verb.js';
import { DIFF, INSTANCE, POLICY, POLICY_VERSION, REVISION, ROUTE } from './views.js';

export const revisions: Noun = {
  noun: 'revisions',
  aliases: ['revision'],
  summary: 'Show revisions, the immutable specs of a deployment',
  verbs: [
    {
      verb: 'list',
      operation: 'listRevisions',
      summary: 'List the revisions of a deployment',
      examples: ['slipway revisions list chat'],
      flags: [{ flags: '--state <state>', summary: 'only revisions in this state', query: 'state' }],
      view: REVISION,
    },
    {
      verb: 'get',
      operation: 'getRevision',
      summary: 'Show a revision and its spec',
      examples: ['slipway revisions get chat chat-00001 -o yaml'],
      view: REVISION,
    },
    {
      verb: 'diff',
      operation: 'diffRevisions',
      args: '<deployment> <from> <to>',
      summary: 'Show the difference between two revisions as a JSON patch',
      examples: ['slipway revisions diff chat chat-00001 chat-00002'],
      view: DIFF,
    },
  ],
};

export const routes: Noun = {
  noun: 'routes',
  aliases: ['route'],
  summary: 'Manage routes: which revisions get the traffic',
  verbs: [
    {
      verb: 'get',
      operation: 'getRoute',
      summary: 'Show the route of a deployment',
      examples: ['slipway routes get chat'],
      view: ROUTE,
    },
    {
      verb: 'set',
      operation: 'setRoute',
      summary: 'Send the traffic to one revision, or split it between several',
      examples: [
        'slipway routes set chat --revision chat-00001 --yes',
        'slipway routes set chat --targets chat-00001=90,chat-00002=10 --dry-run',
      ],
      flags: [
        {
          flags: '--revision <revision>',
          summary: 'revision that gets all traffic',
          body: 'revision',
          source: 'revision',
        },
        {
          flags: '--targets <shares>',
          summary: 'shares, such as chat-00001=90,chat-00002=10',
          body: 'targets',
          as: 'weights',
          source: 'revision',
        },
        { flags: '--affinity <json>', summary: 'how sessions stay at one server', body: 'affinity', as: 'json' },
        { flags: '--reason <text>', summary: 'reason for the change', body: 'reason' },
      ],
      view: ROUTE,
    },
  ],
};

export const policies: Noun = {
  noun: 'policies',
  aliases: ['policy'],
  summary: 'Manage policies of continual optimization: allowed changes and limits',
  verbs: [
    {
      verb: 'get',
      operation: 'getContinualOptimizationPolicy',
      operations: ['getContinualOptimizationPolicyVersion'],
      args: '<deployment> [version]',
      summary: 'Show the policy of a deployment, or an earlier version of it',
      examples: ['slipway policies get chat', 'slipway policies get chat 1'],
      view: POLICY,
      call: (client, { args: [name, version], options }) =>
        version === undefined
          ? client.deployments.policy.get(name!, options)
          : client.deployments.policy.version(name!, version, options),
    },
    {
      verb: 'versions',
      operation: 'listContinualOptimizationPolicyVersions',
      summary: 'List the versions of the policy of a deployment, newest first',
      examples: ['slipway policies versions chat'],
      view: POLICY_VERSION,
    },
    {
      verb: 'set',
      operation: 'setContinualOptimizationPolicy',
      summary: 'Set the policy of a deployment',
      examples: [
        `slipway policies set chat --mode recommend --slos '[{"metric":"ttft_ms","stat":"p95","threshold":200}]' --yes`,
        'slipway policies set chat --mode off --dry-run',
      ],
      flags: [
        { flags: '--mode <mode>', summary: 'mode: off, observe or recommend', body: 'mode' },
        { flags: '--slos <json>', summary: 'SLOs that must hold, or @file', body: 'slos', as: 'json' },
        { flags: '--objective <json>', summary: 'what to improve', body: 'objective', as: 'json' },
        { flags: '--workload <json>', summary: 'what the deployment is used for', body: 'workload', as: 'json' },
        { flags: '--evidence <json>', summary: 'how much evidence a proposal needs', body: 'evidence', as: 'json' },
        {
          flags: '--experiment-budget <json>',
          summary: 'how much may be tried',
          body: 'experiment_budget',
          as: 'json',
        },
        { flags: '--promotion <json>', summary: 'how a proposal becomes a rollout', body: 'promotion', as: 'json' },
        { flags: '--reliability <json>', summary: 'what must never be put at risk', body: 'reliability', as: 'json' },
      ],
      view: POLICY,
    },
  ],
};

export const instances: Noun = {
  noun: 'instances',
  aliases: ['instance'],
  summary: 'Show the running model servers',
  verbs: [
    {
      verb: 'list',
      operation: 'listInstances',
      summary: 'List the instances of a deployment',
      examples: ['slipway instances list chat', 'slipway instances list chat -o wide'],
      flags: [
        { flags: '--revision <revision>', summary: 'only of this revision', query: 'revision', source: 'revision' },
        { flags: '--state <state>', summary: 'only instances in this state', query: 'state' },
      ],
      view: INSTANCE,
    },
  ],
};
