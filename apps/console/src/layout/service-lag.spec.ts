import { describe, expect, it } from '@jest/globals';
import { serviceLags, type SystemState } from './service-lag.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const alive = {
  id: 'p1',
  version: '0.1.0',
  started_at: '',
  seen_at: new Date(NOW - 2_000).toISOString(),
  is_alive: true,
};
const gone = { ...alive, seen_at: new Date(NOW - 90_000).toISOString(), is_alive: false };
const gateway = { routes: 1, routes_behind: 0, statistics_until: null };
const FINE: SystemState = {
  database: { version: '18.4', started_at: '', latency_ms: 3 },
  queue: {
    backend: 'postgres',
    outbox: { waiting: 0, oldest_seconds: null },
    operations: { due: 0, oldest_due_seconds: null, running: 0, asleep: 0 },
  },
  workers: [gone, alive],
  gateways: [{ ...alive, ...gateway }],
};
const told = (changed: Partial<SystemState>) =>
  serviceLags({ ...FINE, ...changed }, NOW).map(({ what, how }) => `${what}: ${how}`);

describe('lags of the service', () => {
  it('are empty if all is well', () => expect(serviceLags(FINE, NOW)).toEqual([]));

  it('are empty for a tenant that does not receive the data', () =>
    expect(serviceLags({ database: null, queue: null, workers: null, gateways: null }, NOW)).toEqual([]));

  it.each<[string, Partial<SystemState>]>([
    [
      'No worker is polling: The last one reported 1 min 30 s ago. Operations wait until a worker starts.',
      { workers: [gone] },
    ],
    ['No worker is polling: None has reported recently. Operations wait until a worker starts.', { workers: [] }],
    [
      'No gateway is running: None has reported recently. No requests are served until a gateway starts.',
      { gateways: [] },
    ],
    ['Postgres is slow: Its last response took 1 s.', { database: { ...FINE.database!, latency_ms: 1_200 } }],
    [
      'The queue cannot keep up: 3 wake-ups are waiting, the oldest for 1 min 5 s.',
      { queue: { ...FINE.queue!, outbox: { waiting: 3, oldest_seconds: 65 } } },
    ],
    [
      'Workers cannot keep up: 2 operations are due, the oldest for 31 s.',
      { queue: { ...FINE.queue!, operations: { due: 2, oldest_due_seconds: 31, running: 4, asleep: 0 } } },
    ],
  ])('%s', (text, changed) => expect(told(changed)).toEqual([text]));

  it('do not include short delays', () =>
    expect(
      told({
        queue: {
          ...FINE.queue!,
          outbox: { waiting: 9, oldest_seconds: 2 },
          operations: { due: 9, oldest_due_seconds: 5, running: 0, asleep: 0 },
        },
      }),
    ).toEqual([]));
});
