import { watchOperation } from '../progress/watch.js';
import { durationMs } from './flags.js';
import { operationIdOf } from './names.js';
import type { Noun, RunVerb, Verb } from './verb.js';
import { OPERATION } from './views.js';

/** `rollouts watch` and `operations wait` do the same, under both nouns. */
export const waitVerb = (noun: string, verb: string): RunVerb => ({
  verb,
  args: '<operation>',
  summary: 'Follow an operation, or the current one of a deployment, until it ends; fail if it fails',
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
    await session.output.print(await watchOperation(session, id, { limitMs }), OPERATION);
  },
});

/** A verb that changes an operation, which is named by its id or its deployment. */
export const operationVerb = (noun: string, verb: 'cancel' | 'resume' | 'retry', summary: string): Verb => ({
  verb,
  args: '<operation>',
  summary,
  examples: [`slipway ${noun} ${verb} chat${verb === 'cancel' ? ' --reason "worse answers" --yes' : ''}`],
  ...(verb === 'cancel' && {
    confirm: 'yes' as const,
    flags: [{ flags: '--reason <text>', summary: 'reason for the cancellation', body: 'reason' }],
  }),
  view: OPERATION,
  call: async (client, { args: [given], body = {}, options }) => {
    const id = await operationIdOf(client, given!);
    return verb === 'cancel' ? client.operations.cancel(id, body, options) : client.operations[verb](id, options);
  },
});

export const rollouts: Noun = {
  noun: 'rollouts',
  aliases: ['rollout'],
  summary: 'Create and follow rollouts',
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
        { flags: '--base-revision <revision>', summary: 'revision that --patch changes', body: 'base_revision' },
        {
          flags: '--expected-active-revision <revision>',
          summary: 'fail unless this revision is active',
          body: 'expected_active_revision',
        },
        { flags: '--plan <plan>', summary: 'approved plan that the rollout executes', body: 'plan_id' },
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
      view: OPERATION,
      call: (client, { args: [name], body = {}, options }) => client.deployments.rollouts.create(name!, body, options),
      rehearse: (client, { args: [name], body = {}, options }) =>
        client.deployments.rollouts.rehearse(name!, body, options),
    },
    waitVerb('rollouts', 'watch'),
    operationVerb('rollouts', 'cancel', 'Cancel a rollout and restore the previous route'),
    operationVerb('rollouts', 'resume', 'Resume a paused rollout'),
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
    },
    { flags: '--reason <text>', summary: 'reason for the rollback', body: 'reason' },
    {
      flags: '--on-active-operation <what>',
      summary: 'what to do if an operation is running: supersede or fail',
      body: 'on_active_operation',
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
