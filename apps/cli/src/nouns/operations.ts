import { operationIdOf } from './names.js';
import { operationVerb, WAITING_FOR, waitVerb } from './rollouts.js';
import { eventsVerb } from './streams.js';
import type { Noun } from './verb.js';
import { OPERATION } from './views.js';

export const operations: Noun = {
  noun: 'operations',
  aliases: ['operation'],
  summary: 'Manage long-running operations',
  verbs: [
    {
      verb: 'list',
      operation: 'listOperations',
      summary: 'List operations, newest first',
      examples: [
        'slipway operations list --status running',
        'slipway operations list --resource-name chat --since 1h -o name',
      ],
      flags: [
        { flags: '--status <status>', summary: 'only operations with this status', query: 'status' },
        { flags: '--kind <kind>', summary: 'only operations of this kind', query: 'kind', source: 'operation kind' },
        {
          flags: '--resource-name <name>',
          summary: 'only operations of this deployment',
          query: 'resource_name',
          source: 'deployment',
        },
        WAITING_FOR,
      ],
      view: OPERATION,
    },
    {
      verb: 'get',
      operation: 'getOperation',
      summary: 'Show an operation, or the current or last one of a deployment',
      examples: ['slipway operations get op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 -o json'],
      view: OPERATION,
      idOf: operationIdOf,
    },
    waitVerb('operations', 'wait', { staysForPerson: false }),
    operationVerb('operations', { verb: 'cancel', operation: 'cancelOperation', summary: 'Cancel an operation' }),
    operationVerb('operations', { verb: 'retry', operation: 'retryOperation', summary: 'Retry a failed operation' }),
    operationVerb('operations', {
      verb: 'resume',
      operation: 'resumeOperation',
      summary: 'Resume an operation that waits for a person',
    }),
    eventsVerb({
      verb: 'events',
      args: '<operation>',
      summary: 'Show the events of an operation, with --follow until it ends',
      examples: ['slipway operations events op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5'],
      operations: ['listOperationEvents'],
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
