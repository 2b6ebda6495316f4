import { request as creation } from 'request:createWebhook';
import { request as deletion } from 'request:deleteWebhook';
import { request as redelivery } from 'request:redeliverWebhookEvent';
import { request as rotation } from 'request:rotateWebhookSecret';
import { request as sending } from 'request:sendWebhookEvent';
import { request as skip } from 'request:skipWebhookDelivery';
import { request as test } from 'request:testWebhook';
import { request as change } from 'request:updateWebhook';
import { defineAction, type Action } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { Delivery, Webhook } from '../../api/items.js';
import { CREATE_WEBHOOK, ROTATE_WEBHOOK_SECRET, SEND_WEBHOOK_EVENT, UPDATE_WEBHOOK } from './webhook-layout.js';

const { webhooks } = slipway;

/** The types of events that a webhook can choose from. */
export const EVENT_TYPES = creation.schema.properties!['event_types']!.items!.enum!.map(String);

export const CREATE = defineAction<'createWebhook'>()({
  request: creation,
  verb: 'Create',
  button: 'Create webhook',
  title: () => 'New webhook',
  description: 'Slipway posts new events to the webhook as CloudEvents, at least once and in order.',
  layout: () => CREATE_WEBHOOK,
  cli: { words: 'webhooks create', args: ['url'] },
  run: (_, body) => webhooks.create(body),
  secret: ({ url, secret }) => ({
    title: 'Webhook created',
    name: 'secret',
    value: secret,
    text: (
      <>
        Every request to <span className="break-all">{url}</span> is signed with this secret, as standard-webhooks.com
        describes (HMAC-SHA256). The receiver needs it to verify requests from Slipway.
      </>
    ),
  }),
});

const Url = ({ of: { url } }: { of: Webhook }) => <span className="font-medium break-all">{url}</span>;
const isActive = ({ state }: Webhook) => state === 'active';
const etag = (webhook: Webhook) => webhook.etag;
const UPDATE = { request: change, etag, cli: { words: 'webhooks update' }, isPatch: true };

export const webhookActions = (onDeleted: (id: string) => void): Action<Webhook>[] => [
  defineAction<'updateWebhook'>()<Webhook>({
    ...UPDATE,
    verb: 'Save',
    button: 'Edit',
    title: () => 'Edit webhook',
    description: 'A filter applies to events from now on. Pending deliveries are sent to a new URL at once.',
    layout: () => UPDATE_WEBHOOK,
    value: (webhook) => webhook,
    run: ({ id }, body, options) => webhooks.update(id, body, options),
    done: () => 'Webhook changed',
  }),
  defineAction<'testWebhook'>()<Webhook>({
    request: test,
    verb: 'Send test',
    button: 'Test',
    isFor: isActive,
    title: () => 'Send a test event?',
    effect: (webhook) => (
      <p>
        <Url of={webhook} /> receives one signed event of type webhook.test. Its deliveries show the response.
      </p>
    ),
    cli: { words: 'webhooks test' },
    run: ({ id }) => webhooks.test(id),
    done: () => 'Test event sent. See its delivery.',
  }),
  defineAction<'sendWebhookEvent'>()<Webhook>({
    request: sending,
    verb: 'Send',
    button: 'Send event',
    isFor: isActive,
    title: () => 'Send an earlier event',
    description: 'The webhook receives an event of a deployment that it did not get.',
    layout: () => SEND_WEBHOOK_EVENT,
    cli: { words: 'webhooks send', args: ['deployment', 'sequence'] },
    run: ({ id }, body) => webhooks.send(id, body),
    done: () => 'Event sent. See its delivery.',
  }),
  defineAction<'rotateWebhookSecret'>()<Webhook>({
    request: rotation,
    verb: 'Rotate secret',
    title: () => 'Rotate the signing secret',
    description: 'Until the overlap ends, requests carry signatures of the new and of the previous secret.',
    layout: () => ROTATE_WEBHOOK_SECRET,
    cli: { words: 'webhooks rotate-secret', end: '--yes' },
    run: ({ id }, body) => webhooks.rotateSecret(id, body),
    secret: ({ secret }, { url }) => ({
      title: 'Signing secret rotated',
      name: 'secret',
      value: secret,
      text: (
        <>
          Give this secret to the receiver at <span className="break-all">{url}</span> before the overlap ends.
        </>
      ),
    }),
  }),
  defineAction<'updateWebhook'>()<Webhook>({
    ...UPDATE,
    verb: 'Pause',
    isFor: isActive,
    title: () => 'Pause this webhook?',
    effect: (webhook) => (
      <p>
        <Url of={webhook} /> receives nothing until you resume it. Its pending deliveries are cancelled, and events of
        the pause are not sent later.
      </p>
    ),
    fixed: () => ({ state: 'disabled' }),
    run: ({ id }, body, options) => webhooks.update(id, body, options),
    done: () => 'Webhook paused',
  }),
  defineAction<'updateWebhook'>()<Webhook>({
    ...UPDATE,
    verb: 'Resume',
    isFor: (webhook) => !isActive(webhook),
    title: () => 'Resume this webhook?',
    effect: (webhook) => (
      <p>
        <Url of={webhook} /> receives events again, beginning with the next one.
      </p>
    ),
    fixed: () => ({ state: 'active' }),
    run: ({ id }, body, options) => webhooks.update(id, body, options),
    done: () => 'Webhook resumed',
  }),
  defineAction<'deleteWebhook'>()<Webhook>({
    request: deletion,
    verb: 'Delete',
    isDangerous: true,
    title: () => 'Delete this webhook?',
    effect: (webhook) => (
      <p>
        <Url of={webhook} /> receives no more events, and pending deliveries are not sent. The deliveries and the secret
        of the webhook are deleted.
      </p>
    ),
    cli: { words: 'webhooks delete', end: '--yes' },
    run: ({ id }) => webhooks.delete(id),
    done: () => 'Webhook deleted',
    onDone: (_, { id }) => onDeleted(id),
  }),
];

export const deliveryActions = (webhook: string): Action<Delivery>[] => [
  defineAction<'redeliverWebhookEvent'>()<Delivery>({
    request: redelivery,
    verb: 'Send again',
    button: 'Redeliver',
    title: ({ event_type }) => `Send ${event_type} again?`,
    effect: ({ status }) => (
      <p>
        {status === 'pending'
          ? 'The next attempt begins now, and a pause that the receiver requested ends.'
          : 'The receiver gets the event with the same webhook-id, so it can recognise the repetition.'}
      </p>
    ),
    ids: ({ event_id }) => [webhook, event_id],
    cli: { words: 'webhooks redeliver' },
    run: ({ event_id }) => webhooks.redeliver(webhook, event_id),
    done: ({ event_type }) => `${event_type} is sent again`,
  }),
  defineAction<'skipWebhookDelivery'>()<Delivery>({
    request: skip,
    verb: 'Skip',
    isFor: ({ status }) => status === 'pending',
    isDangerous: true,
    title: ({ event_type }) => `Skip ${event_type}?`,
    effect: () => <p>Slipway gives up this delivery and sends the later events of its stream.</p>,
    ids: ({ event_id }) => [webhook, event_id],
    cli: { words: 'webhooks skip', end: '--yes' },
    run: ({ event_id }) => webhooks.skip(webhook, event_id),
    done: ({ event_type }) => `${event_type} skipped`,
  }),
];
