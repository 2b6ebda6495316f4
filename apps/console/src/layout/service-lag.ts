import type { AnswerOf } from '@slipway/sdk';
import { lengthText } from '../ui/text/time-text.js';

type System = AnswerOf<'getSystem'>;
export type SystemState = Pick<System, 'database' | 'queue' | 'workers' | 'gateways'>;

/** A part of the service that does not keep up. An operator must see this on every screen. */
export interface ServiceLag {
  what: string;
  how: string;
}

/** Its queries take a few ms; beyond this, every page waits. */
const SLOW_MS = 500;
/** The relay is woken immediately; a longer wait means that the queue is away. */
const WAITING_SECONDS = 10;
/** A worker that polls claims due work in a moment. */
const DUE_SECONDS = 30;

export function serviceLags({ database, queue, workers, gateways }: SystemState, now: number): ServiceLag[] {
  return [
    ...silentOf('No worker is polling', 'Operations wait until a worker starts.', workers, now),
    ...silentOf('No gateway is running', 'No requests are served until a gateway starts.', gateways, now),
    ...(database ? slowOf(database) : []),
    ...(queue ? queueOf(queue) : []),
  ];
}

function silentOf(
  what: string,
  therefore: string,
  processes: readonly { is_alive: boolean; seen_at: string }[] | null,
  now: number,
): ServiceLag[] {
  if (!processes || processes.some(({ is_alive }) => is_alive)) return [];
  const last = Math.max(...processes.map(({ seen_at }) => Date.parse(seen_at)));
  const heard = Number.isFinite(last)
    ? `The last one reported ${lengthText(now - last)} ago.`
    : 'None has reported recently.';
  return [{ what, how: `${heard} ${therefore}` }];
}

const slowOf = ({ latency_ms }: NonNullable<System['database']>): ServiceLag[] =>
  latency_ms > SLOW_MS ? [{ what: 'Postgres is slow', how: `Its last response took ${lengthText(latency_ms)}.` }] : [];

function queueOf({ outbox, operations }: NonNullable<System['queue']>): ServiceLag[] {
  const waits = outbox.oldest_seconds ?? 0;
  const due = operations.oldest_due_seconds ?? 0;
  return [
    ...(waits > WAITING_SECONDS
      ? [
          {
            what: 'The queue cannot keep up',
            how: `${outbox.waiting} wake-ups are waiting, the oldest for ${lengthText(waits * 1000)}.`,
          },
        ]
      : []),
    ...(due > DUE_SECONDS
      ? [
          {
            what: 'Workers cannot keep up',
            how: `${operations.due} operations are due, the oldest for ${lengthText(due * 1000)}.`,
          },
        ]
      : []),
  ];
}
