import type { OperationId } from '@slipway/sdk';
import { watchOperation } from '../progress/watch.js';
import { chooseStrategy, STRATEGIES } from './default-strategy.js';
import { durationMs, PERIOD } from './flags.js';
import { operationIdOf } from './names.js';
import { historyOf, rolloutsOf } from './rollout-rows.js';
import type { EndpointVerb, Flag, Noun, RunVerb } from './verb.js';
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

interface OperationWords {
  verb: string;
  operation: OperationId;
  summary: string;
  aliases?: readonly string[];
  flags?: readonly Flag[];
  /** More lines of help, after the verb. */
  examples?: readonly string[];
}

const REASON: Flag = { flags: '--reason <text>', summary: 'reason, for the audit log', body: 'reason' };

/** A verb that changes an operation, which is named by its id or its deployment. */
export const operationVerb = (
  noun: string,
  { verb, operation, flags = [], examples = [], ...words }: OperationWords,
): EndpointVerb => ({
  ...words,
  verb,
  operation,
  examples: [
    `slipway ${noun} ${verb} chat${operation === 'cancelOperation' ? ' --reason "worse answers" --yes' : ''}`,
    ...examples.map((more) => `slipway ${noun} ${verb} ${more}`),
  ],
  ...(operation === 'cancelOperation' && { confirm: 'yes' as const }),
  flags: operation === 'retryOperation' ? flags : [...flags, REASON],
  idOf: operationIdOf,
  view: OPERATION,
});

export const WAITING_FOR: Flag = {
  flags: '--waiting-for <what>',
  summary: 'only those that wait for this: soak, approval, decision, resume, capacity or traffic',
  query: 'waiting_for',
};

export const rollouts: Noun = {
  noun: 'rollouts',
  aliases: ['rollout'],
  summary: 'Create, follow and control rollouts',
  verbs: [
    {
      verb: 'create',
      operation: 'createRollout',
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
      tellsKey: true,
      prepare: chooseStrategy,
      view: OPERATION,
    },
    waitVerb('rollouts', 'watch', { staysForPerson: true }),
    {
      verb: 'list',
      operation: 'listOperations',
      args: '[deployment]',
      summary: 'List running and recent rollouts, newest first, and what they wait for',
      examples: ['slipway rollouts list', 'slipway rollouts list chat --waiting-for approval'],
      flags: [{ flags: '--status <status>', summary: 'only rollouts with this status', query: 'status' }, WAITING_FOR],
      without: ['kind', 'resource_name'],
      view: ROLLOUT,
      call: (client, given) => rolloutsOf(client, given),
    },
    {
      verb: 'history',
      operation: 'listOperations',
      args: '<deployment>',
      summary: 'List the rollouts and rollbacks of a deployment that have ended, newest first',
      examples: ['slipway rollouts history chat', 'slipway rollouts history chat --since 7d --json revision,outcome'],
      flags: PERIOD,
      isByTime: false,
      without: ['kind', 'resource_name', 'status', 'waiting_for'],
      view: HISTORY,
      call: (client, given) => historyOf(client, given),
    },
    operationVerb('rollouts', {
      verb: 'promote',
      operation: 'promoteOperation',
      summary: 'End the running step of a rollout as passed, approve it or decide; with --full, all of its steps',
      flags: [
        { flags: '--full', summary: 'go to 100 % of the traffic (default: the next step)', body: 'to', as: 'full' },
      ],
      examples: ['chat --full --reason "fixes an outage"'],
    }),
    operationVerb('rollouts', {
      verb: 'pause',
      operation: 'pauseOperation',
      summary: 'Hold the traffic of a rollout where it is, until it is resumed; a gate can still end it',
      examples: ['chat --reason "until Monday"'],
    }),
    operationVerb('rollouts', { verb: 'resume', operation: 'resumeOperation', summary: 'End the pause of a rollout' }),
    operationVerb('rollouts', {
      verb: 'abort',
      operation: 'cancelOperation',
      aliases: ['cancel'],
      summary: 'Abort a rollout and restore the previous route',
    }),
  ],
};

export const rollback: EndpointVerb = {
  verb: 'rollback',
  operation: 'createRollback',
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
    },
  ],
  tellsKey: true,
  view: OPERATION,
};
