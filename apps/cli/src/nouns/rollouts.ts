import { watchOperation } from '../progress/watch.js';
import { chooseStrategy, STRATEGIES } from './default-strategy.js';
import { durationMs, PERIOD } from './flags.js';
import { operationIdOf } from './names.js';
import { historyOf, rolloutsOf } from './rollout-rows.js';
import type { Flag, Noun, RunVerb, Verb } from './verb.js';
import { HISTORY, OPERATION, ROLLOUT } from './views.js';

/** `rollouts watch` stays while the rollout waits for a person; `operations wait` ends, with an exit code of its own. */
export const waitVerb = (noun: string, verb: string, { staysForPerson }: { staysForPerson: boolean }): RunVerb => ({
  verb,
  args: '<operation>',
  summary: staysForPerson
    ? 'Follow a rollout until it ends, also while it waits for a person; fail if it fails'
    : 'Follow an operation, or the current one of a deployment, until it ends or needs a person; fail if it fails',
  examples: [
    `slipway ${noun} ${verb} chat`,
    `slipway ${noun} ${verb} op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --timeout 10m`,
  ],
  flags: [
    {
      flags: '--timeout <time>',
      summary: 'how long to wait, such as 90s or 10m; the operation continues after that (default: 1h)',
    },
  ],
  run: async (session, { args: [given], flags }) => {
    const limitMs = flags['timeout'] === undefined ? undefined : durationMs(flags['timeout'] as string, '--timeout');
    const id = await operationIdOf(await session.client(), given!);
    await session.output.print(await watchOperation(session, id, { limitMs, staysForPerson }), OPERATION);
  },
});

type OperationCall = 'cancel' | 'pause' | 'promote' | 'resume' | 'retry';

interface OperationWords {
  summary: string;
  /** If it differs from the name of the call. */
  verb?: string;
  aliases?: readonly string[];
  flags?: readonly Flag[];
  /** More lines of help, after the verb. */
  examples?: readonly string[];
}

/** A verb that changes an operation, which is named by its id or its deployment. */
export const operationVerb = (
  noun: string,
  call: OperationCall,
  { summary, verb = call, aliases, flags = [], examples = [] }: OperationWords,
): Verb => ({
  verb,
  aliases,
  args: '<operation>',
  summary,
  examples: [
    `slipway ${noun} ${verb} chat${call === 'cancel' ? ' --reason "worse answers" --yes' : ''}`,
    ...examples.map((more) => `slipway ${noun} ${verb} ${more}`),
  ],
  ...(call === 'cancel' && { confirm: 'yes' as const }),
  flags:
    call === 'retry' || call === 'resume'
      ? flags
      : [...flags, { flags: '--reason <text>', summary: 'reason, for the audit log', body: 'reason' }],
  view: OPERATION,
  call: async (client, { args: [given], body = {}, options }) => {
    const id = await operationIdOf(client, given!);
    return call === 'retry' ? client.operations.retry(id, options) : client.operations[call](id, body, options);
  },
});

export const OPERATION_STATUSES = ['pending', 'running', 'waiting', 'cancelling', 'succeeded', 'failed', 'cancelled'];

export const WAITING_FOR: Flag = {
  flags: '--waiting-for <what>',
  summary: 'only those that wait for this: soak, approval, decision, resume, capacity or traffic',
  query: 'waiting_for',
  values: ['soak', 'approval', 'decision', 'resume', 'capacity', 'traffic'],
};

export const rollouts: Noun = {
  noun: 'rollouts',
  aliases: ['rollout'],
  summary: 'Create, follow and control rollouts',
  verbs: [
    {
      verb: 'create',
      args: '<deployment>',
      summary: 'Roll out a revision from a whole spec, or from changes to the active one',
      examples: [
        `slipway rollouts create chat --patch '{"model":{"id":"llama-next"}}' --strategy immediate --yes --wait`,
        `slipway rollouts create chat --patch '{"model":{"id":"llama-next"}}' --strategy canary --steps 10:60,100:60 --dry-run`,
      ],
      flags: [
        {
          flags: '--revision-file <file>',
          summary: 'JSON or YAML file with the spec; - reads stdin',
          body: 'spec',
          as: 'file',
        },
        { flags: '--patch <json>', summary: 'changes to the base revision, or @file', body: 'spec_patch', as: 'json' },
        {
          flags: '--strategy <type>',
          summary: 'strategy: candidate, canary, blue_green, immediate, recreate, auto',
          body: 'strategy.type',
          values: Object.keys(STRATEGIES),
        },
        {
          flags: '--steps <steps>',
          summary: 'steps as percent:seconds, such as 10:60,100:60',
          body: 'strategy.steps',
          as: 'steps',
        },
        {
          flags: '--hold-seconds <seconds>',
          summary: 'how long requests wait during a recreate',
          body: 'strategy.hold_seconds',
          as: 'number',
        },
        { flags: '--analysis <json>', summary: 'the gate, @file, or none', body: 'analysis', as: 'analysis' },
        { flags: '--reason <text>', summary: 'reason for the rollout', body: 'reason' },
        { flags: '--change-ref <text>', summary: 'reference to the change, such as a commit', body: 'change_ref' },
        {
          flags: '--base-revision <revision>',
          summary: 'revision that --patch changes',
          body: 'base_revision',
          source: 'revision',
        },
        {
          flags: '--expected-active-revision <revision>',
          summary: 'fail unless this revision is active',
          body: 'expected_active_revision',
          source: 'revision',
        },
        {
          flags: '--plan <plan>',
          summary: 'approved plan that the rollout executes',
          body: 'plan_id',
          source: 'approved plan',
        },
        {
          flags: '--progress-deadline-seconds <seconds>',
          summary: 'time limit for becoming ready',
          body: 'progress_deadline_seconds',
          as: 'number',
        },
        {
          flags: '--keep-previous-seconds <seconds>',
          summary: 'how long the previous revision keeps running',
          body: 'keep_previous_seconds',
          as: 'number',
        },
      ],
      takesBody: true,
      takesKey: true,
      changesDeployment: true,
      answersOperation: true,
      prepare: chooseStrategy,
      view: OPERATION,
      call: (client, { args: [name], body = {}, options }) => client.deployments.rollouts.create(name!, body, options),
      rehearse: (client, { args: [name], body = {}, options }) =>
        client.deployments.rollouts.rehearse(name!, body, options),
    },
    waitVerb('rollouts', 'watch', { staysForPerson: true }),
    {
      verb: 'list',
      args: '[deployment]',
      summary: 'List running and recent rollouts, newest first, and what they wait for',
      examples: ['slipway rollouts list', 'slipway rollouts list chat --waiting-for approval'],
      flags: [
        {
          flags: '--status <status>',
          summary: 'only rollouts with this status',
          query: 'status',
          values: OPERATION_STATUSES,
        },
        WAITING_FOR,
      ],
      isList: true,
      isByTime: true,
      view: ROLLOUT,
      call: (client, given) => rolloutsOf(client, given),
    },
    {
      verb: 'history',
      args: '<deployment>',
      summary: 'List the rollouts and rollbacks of a deployment that have ended, newest first',
      examples: ['slipway rollouts history chat', 'slipway rollouts history chat --since 7d --json revision,outcome'],
      flags: PERIOD,
      isList: true,
      view: HISTORY,
      call: (client, given) => historyOf(client, given),
    },
    operationVerb('rollouts', 'promote', {
      summary: 'End the running step of a rollout as passed, approve it or decide; with --full, all of its steps',
      flags: [
        { flags: '--full', summary: 'go to 100 % of the traffic (default: the next step)', body: 'to', as: 'full' },
      ],
      examples: ['chat --full --reason "fixes an outage"'],
    }),
    operationVerb('rollouts', 'pause', {
      summary: 'Hold the traffic of a rollout where it is, until it is resumed; a gate can still end it',
      examples: ['chat --reason "until Monday"'],
    }),
    operationVerb('rollouts', 'resume', { summary: 'End the pause of a rollout' }),
    operationVerb('rollouts', 'cancel', {
      verb: 'abort',
      aliases: ['cancel'],
      summary: 'Abort a rollout and restore the previous route',
    }),
  ],
};

export const rollback: Verb = {
  verb: 'rollback',
  args: '<deployment>',
  summary: 'Move all traffic back to an earlier revision',
  examples: ['slipway rollback chat --reason "worse answers" --yes --wait', 'slipway rollback chat --dry-run'],
  flags: [
    {
      flags: '--to-revision <revision>',
      summary: 'revision to return to (default: the previous one)',
      body: 'to_revision',
      source: 'revision',
    },
    { flags: '--reason <text>', summary: 'reason for the rollback', body: 'reason' },
    {
      flags: '--on-active-operation <what>',
      summary: 'what to do if an operation is running: supersede or fail',
      body: 'on_active_operation',
      values: ['supersede', 'fail'],
    },
  ],
  takesBody: true,
  takesKey: true,
  changesDeployment: true,
  answersOperation: true,
  view: OPERATION,
  call: (client, { args: [name], body = {}, options }) => client.deployments.rollbacks.create(name!, body, options),
  rehearse: (client, { args: [name], body = {}, options }) =>
    client.deployments.rollbacks.rehearse(name!, body, options),
};
