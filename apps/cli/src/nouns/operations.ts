import { operationIdOf } from './names.js';
import { operationVerb, waitVerb } from './rollouts.js';
import { eventsVerb } from './streams.js';
import type { Noun } from './verb.js';
import { OPERATION } from './views.js';

export const operations: Noun = {
  noun: 'operations',
  aliases: ['operation'],
  summary: 'Long work: a row that outlives whoever asked for it',
  verbs: [
    {
      verb: 'list',
      summary: 'List operations, the newest first',
      examples: ['slipway operations list --status running', 'slipway operations list --resource-name chat -o name'],
      flags: [
        { flags: '--status <status>', summary: 'only with this status', query: 'status' },
        { flags: '--kind <kind>', summary: 'only of this kind', query: 'kind' },
        { flags: '--resource-name <name>', summary: 'only of this deployment', query: 'resource_name' },
      ],
      isList: true,
      view: OPERATION,
      call: (client, { options }) => client.operations.list(options),
    },
    {
      verb: 'get',
      args: '<operation>',
      summary: 'Show an operation, or the last one of a deployment',
      examples: ['slipway operations get op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 -o json'],
      view: OPERATION,
      call: async (client, { args: [given], options }) =>
        client.operations.get(await operationIdOf(client, given!), options),
    },
    waitVerb('operations', 'wait'),
    operationVerb('operations', 'cancel', 'Cancel an operation'),
    operationVerb('operations', 'retry', 'Try a failed operation again'),
    operationVerb('operations', 'resume', 'Go on with an operation that has paused'),
    eventsVerb({
      verb: 'events',
      args: '<operation>',
      summary: 'What an operation has told, with --follow until its end',
      examples: ['slipway operations events op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5'],
      eventsOf: async (client, given) => {
        const id = await operationIdOf(client, given);
        return {
          list: (options) => client.operations.events.list(id, options),
          follow: (options) => client.operations.events.follow(id, options),
        };
      },
    }),
  ],
};
