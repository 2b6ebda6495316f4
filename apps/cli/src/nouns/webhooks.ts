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
      operation: 'listWebhooks',
      summary: 'List webhooks',
      examples: ['slipway webhooks list'],
      flags: [{ flags: '--state <state>', summary: 'only webhooks in this state', query: 'state' }],
      view: WEBHOOK,
    },
    {
      verb: 'get',
      operation: 'getWebhook',
      summary: 'Show a webhook',
      examples: ['slipway webhooks get whk_1'],
      view: WEBHOOK,
    },
    {
      verb: 'create',
      operation: 'createWebhook',
      summary: 'Create a webhook and show its signing secret once',
      examples: ['slipway webhooks create https://hooks.example.com/slipway --event-types rollout.promoted'],
      flags: FILTER,
      view: CREATED_WEBHOOK,
      argFields: ['url'],
    },
    {
      verb: 'update',
      operation: 'updateWebhook',
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
        },
      ],
      view: WEBHOOK,
    },
    {
      verb: 'delete',
      operation: 'deleteWebhook',
      summary: 'Delete a webhook',
      examples: ['slipway webhooks delete whk_1 --yes'],
      confirm: 'name',
      view: DELETED,
    },
    {
      verb: 'rotate-secret',
      operation: 'rotateWebhookSecret',
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
      tellsKey: true,
      confirm: 'yes',
      view: ROTATED_WEBHOOK,
    },
    {
      verb: 'test',
      operation: 'testWebhook',
      summary: 'Send a test event to a webhook',
      examples: ['slipway webhooks test whk_1', 'slipway webhooks test whk_1 --wait'],
      flags: [{ flags: '--wait', summary: 'wait for the response of the receiver, up to 30 s', as: 'flag' }],
      tellsKey: true,
      view: DELIVERY,
      call: async (client, { args: [id], options, flags }) => {
        const sent = await client.webhooks.test(id!, options);
        return flags['wait'] ? endOf(client, id!, sent.event_id, options['signal']) : sent;
      },
    },
    {
      verb: 'deliveries',
      operation: 'listWebhookDeliveries',
      summary: 'List the deliveries to a webhook and its responses',
      examples: ['slipway webhooks deliveries whk_1', 'slipway webhooks deliveries whk_1 --status failed'],
      flags: [
        { flags: '--status <status>', summary: 'only deliveries with this status', query: 'status' },
        {
          flags: '--event-type <type>',
          summary: 'only events of this type, or of a kind such as rollout.*',
          query: 'event_type',
          source: 'event type',
        },
      ],
      view: DELIVERY,
    },
    {
      verb: 'delivery',
      operation: 'getWebhookDelivery',
      args: '<webhook> <event>',
      summary: 'Show the delivery of one event',
      examples: ['slipway webhooks delivery whk_1 evt_1'],
      view: DELIVERY,
    },
    {
      verb: 'redeliver',
      operation: 'redeliverWebhookEvent',
      args: '<webhook> <event>',
      summary: 'Send an event again, or a pending one now',
      examples: ['slipway webhooks redeliver whk_1 evt_1'],
      tellsKey: true,
      view: DELIVERY,
    },
    {
      verb: 'send',
      operation: 'sendWebhookEvent',
      summary: 'Send an event that the webhook did not get, by its sequence',
      examples: ['slipway webhooks send whk_1 chat 7'],
      tellsKey: true,
      view: DELIVERY,
      argFields: ['deployment', 'sequence'],
    },
    {
      verb: 'skip',
      operation: 'skipWebhookDelivery',
      args: '<webhook> <event>',
      summary: 'Give up a pending event, so that the later ones of its stream are sent',
      examples: ['slipway webhooks skip whk_1 evt_1 --yes'],
      tellsKey: true,
      confirm: 'yes',
      view: DELIVERY,
    },
  ],
};
