import { setTimeout as wait } from 'node:timers/promises';
import type { Slipway } from '@slipway/sdk';
import type { Flag, Noun } from './verb.js';
import { CREATED_WEBHOOK, DELETED, DELIVERY, ROTATED_WEBHOOK, WEBHOOK } from './views.js';

/** A test has one attempt of 10 s at most. A busy worker may need as long again to begin with it. */
const TEST_MS = 30_000;
const POLL_MS = 500;

const FILTER: readonly Flag[] = [
  {
    flags: '--event-types <list>',
    summary: 'send only these event types (default: all)',
    body: 'event_types',
    as: 'list',
    source: 'event type',
  },
  {
    flags: '--deployments <list>',
    summary: 'send only events of these deployments (default: all)',
    body: 'deployments',
    as: 'list',
    source: 'deployment',
  },
  { flags: '--description <text>', summary: 'what the webhook is for', body: 'description' },
];

/** Reads a delivery until it has ended, or until the time is over. */
async function endOf(client: Slipway, id: string, eventId: string, signal?: AbortSignal) {
  const end = performance.now() + TEST_MS;
  for (;;) {
    const delivery = await client.webhooks.delivery(id, eventId, { signal });
    if (delivery.status !== 'pending' || performance.now() >= end) return delivery;
    await wait(POLL_MS, undefined, { signal });
  }
}

export const webhooks: Noun = {
  noun: 'webhooks',
  aliases: ['webhook'],
  summary: 'Manage webhooks, which receive events',
  verbs: [
    {
      verb: 'list',
      summary: 'List webhooks',
      examples: ['slipway webhooks list'],
      flags: [
        {
          flags: '--state <state>',
          summary: 'only webhooks in this state',
          query: 'state',
          values: ['active', 'disabled'],
        },
      ],
      isList: true,
      isByTime: true,
      view: WEBHOOK,
      call: (client, { options }) => client.webhooks.list(options),
    },
    {
      verb: 'get',
      args: '<webhook>',
      summary: 'Show a webhook',
      examples: ['slipway webhooks get whk_1'],
      view: WEBHOOK,
      call: (client, { args: [id], options }) => client.webhooks.get(id!, options),
    },
    {
      verb: 'create',
      args: '<url>',
      summary: 'Create a webhook and show its signing secret once',
      examples: ['slipway webhooks create https://hooks.example.com/slipway --event-types rollout.promoted'],
      flags: FILTER,
      takesBody: true,
      view: CREATED_WEBHOOK,
      call: (client, { args: [url], body, options }) => client.webhooks.create({ ...body, url }, options),
    },
    {
      verb: 'update',
      args: '<webhook>',
      summary: 'Update a webhook: only the given fields change; null in --file resets a field',
      examples: [
        'slipway webhooks update whk_1 --url https://hooks.example.com/v2',
        'slipway webhooks update whk_1 --state disabled',
      ],
      flags: [
        { flags: '--url <url>', summary: 'new URL; pending events are sent to it at once', body: 'url' },
        ...FILTER,
        {
          flags: '--state <state>',
          summary: 'active or disabled; disabled cancels the pending deliveries',
          body: 'state',
          values: ['active', 'disabled'],
        },
      ],
      takesBody: true,
      takesIfMatch: true,
      view: WEBHOOK,
      call: (client, { args: [id], body = {}, options }) => client.webhooks.update(id!, body, options),
    },
    {
      verb: 'delete',
      args: '<webhook>',
      summary: 'Delete a webhook',
      examples: ['slipway webhooks delete whk_1 --yes'],
      takesIfMatch: true,
      confirm: 'name',
      view: DELETED,
      call: (client, { args: [id], options }) => client.webhooks.delete(id!, options),
    },
    {
      verb: 'rotate-secret',
      args: '<webhook>',
      summary: 'Make a new signing secret and show it once; requests carry both signatures until the overlap ends',
      examples: ['slipway webhooks rotate-secret whk_1 --overlap-seconds 3600 --yes'],
      flags: [
        {
          flags: '--overlap-seconds <seconds>',
          summary: 'how long requests also carry a signature of the previous secret (default: 86400)',
          body: 'overlap_seconds',
          as: 'seconds',
        },
      ],
      takesBody: true,
      takesKey: true,
      confirm: 'yes',
      view: ROTATED_WEBHOOK,
      call: (client, { args: [id], body = {}, options }) => client.webhooks.rotateSecret(id!, body, options),
    },
    {
      verb: 'test',
      args: '<webhook>',
      summary: 'Send a test event to a webhook',
      examples: ['slipway webhooks test whk_1', 'slipway webhooks test whk_1 --wait'],
      flags: [{ flags: '--wait', summary: 'wait for the response of the receiver, up to 30 s', as: 'flag' }],
      takesKey: true,
      view: DELIVERY,
      call: async (client, { args: [id], options, flags }) => {
        const sent = await client.webhooks.test(id!, options);
        return flags['wait'] ? endOf(client, id!, sent.event_id, options['signal']) : sent;
      },
    },
    {
      verb: 'deliveries',
      args: '<webhook>',
      summary: 'List the deliveries to a webhook and its responses',
      examples: ['slipway webhooks deliveries whk_1', 'slipway webhooks deliveries whk_1 --status failed'],
      flags: [
        {
          flags: '--status <status>',
          summary: 'only deliveries with this status',
          query: 'status',
          values: ['pending', 'succeeded', 'failed', 'cancelled', 'skipped'],
        },
        {
          flags: '--event-type <type>',
          summary: 'only events of this type, or of a kind such as rollout.*',
          query: 'event_type',
          source: 'event type',
        },
      ],
      isList: true,
      isByTime: true,
      view: DELIVERY,
      call: (client, { args: [id], options }) => client.webhooks.deliveries(id!, options),
    },
    {
      verb: 'delivery',
      args: '<webhook> <event>',
      summary: 'Show the delivery of one event',
      examples: ['slipway webhooks delivery whk_1 evt_1'],
      view: DELIVERY,
      call: (client, { args: [id, event], options }) => client.webhooks.delivery(id!, event!, options),
    },
    {
      verb: 'redeliver',
      args: '<webhook> <event>',
      summary: 'Send an event again, or a pending one now',
      examples: ['slipway webhooks redeliver whk_1 evt_1'],
      takesKey: true,
      view: DELIVERY,
      call: (client, { args: [id, event], options }) => client.webhooks.redeliver(id!, event!, options),
    },
    {
      verb: 'send',
      args: '<webhook> <deployment> <sequence>',
      summary: 'Send an event that the webhook did not get, by its sequence',
      examples: ['slipway webhooks send whk_1 chat 7'],
      takesKey: true,
      view: DELIVERY,
      call: (client, { args: [id, deployment, sequence], options }) =>
        client.webhooks.send(id!, { deployment: deployment!, sequence: Number(sequence) }, options),
    },
    {
      verb: 'skip',
      args: '<webhook> <event>',
      summary: 'Give up a pending event, so that the later ones of its stream are sent',
      examples: ['slipway webhooks skip whk_1 evt_1 --yes'],
      takesKey: true,
      confirm: 'yes',
      view: DELIVERY,
      call: (client, { args: [id, event], options }) => client.webhooks.skip(id!, event!, options),
    },
  ],
};
