import { expect, it } from '@jest/globals';
import { faultsOf, hasNoWorker, type System } from './system-faults.js';

const worker = (is_alive: boolean) => ({ id: 'w', is_alive, seen_at: '', started_at: '', version: '' });
const well = {
  workers: [worker(false), worker(true)],
  gateways: [],
  queue: {
    backend: 'postgres',
    operations: { asleep: 0, due: 0, oldest_due_seconds: 2, running: 0 },
    outbox: { oldest_seconds: null, waiting: 0 },
  },
  database: { latency_ms: 3, started_at: '', version: '18' },
} as Pick<System, 'workers' | 'gateways' | 'queue' | 'database'>;

it('finds nothing where all is well, or where nothing is told', () => {
  expect(faultsOf(well)).toEqual([]);
  expect(faultsOf({ workers: null, gateways: null, queue: null, database: null })).toEqual([]);
});

it('says that no worker polls', () => {
  expect(hasNoWorker({ workers: [worker(false)] })).toBe(true);
  expect(hasNoWorker({ workers: [] })).toBe(true);
  expect(faultsOf({ ...well, workers: [] })).toEqual(['No worker is polling: nothing that was asked for goes on.']);
});

it('says what is behind, and by how much', () =>
  expect(
    faultsOf({
      ...well,
      queue: {
        backend: 'postgres',
        operations: { asleep: 0, due: 3, oldest_due_seconds: 61.4, running: 0 },
        outbox: { oldest_seconds: 45, waiting: 2 },
      },
      database: { latency_ms: 2_500, started_at: '', version: '18' },
    }),
  ).toEqual([
    'The queue is behind: an operation has been due for 61 s.',
    'The queue is behind: a message has waited for 45 s.',
    'Postgres is slow: it answered after 2500 ms.',
  ]));
