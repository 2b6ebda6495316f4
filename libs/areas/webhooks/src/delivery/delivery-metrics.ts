import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, prepared } from '@slipway/platform-database';
import { counter, readGauges } from '@slipway/platform-observability';
import type { DeliveryOutcome } from './delivery-request.js';

/** One scan of the queues, of which there is one for each stream and webhook. A queue is due in the future if it backs off. */
const READ_DELIVERY_METRICS = prepared(
  'webhooks-metrics',
  `select count(l.due_at)::int as queues,
     coalesce(extract(epoch from clock_timestamp() - min(l.due_at)), 0)::float8 as oldest,
     (select count(*)::int from webhooks where state = 'disabled') as disabled
   from webhook_lanes l`,
);

const RESULTS = ['accepted', 'refused', 'interrupted'] as const satisfies readonly DeliveryOutcome['kind'][];
const attempts = counter('slipway_webhook_attempts_total', 'Requests to receivers of webhooks, by result', ['result']);
// Counted from 0, because Prometheus sees no increase in a counter that begins at 1.
for (const result of RESULTS) attempts.inc({ result }, 0);

export function countAttempt(result: (typeof RESULTS)[number]): void {
  attempts.inc({ result });
}

/** Metrics of the queues of all tenants. */
@Injectable()
export class DeliveryMetrics implements OnModuleInit {
  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    readGauges(
      'webhooks',
      {
        slipway_webhook_queues_pending: ['Queues (a stream of a webhook) with events to send'],
        slipway_webhook_oldest_due_seconds: ['How long the oldest due queue has waited for a worker'],
        slipway_webhooks_disabled: ['Webhooks that are disabled'],
      },
      async () => {
        const [row] = await this.database.read<{ queues: number; oldest: number; disabled: number }>(
          'system',
          READ_DELIVERY_METRICS,
        );
        const { queues, oldest, disabled } = row!;
        return {
          slipway_webhook_queues_pending: queues,
          slipway_webhook_oldest_due_seconds: Math.max(0, oldest),
          slipway_webhooks_disabled: disabled,
        };
      },
    );
  }
}
