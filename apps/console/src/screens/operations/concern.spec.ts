import { describe, expect, it } from '@jest/globals';
import { concernOf, stuckFirst } from './concern.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const row = (changed: Partial<Parameters<typeof concernOf>[0]> = {}) => ({
  status: 'running' as string,
  attempt: 1,
  max_attempts: 5,
  current_step: 'await_ready',
  created_at: ago(120),
  updated_at: ago(5),
  waiting_for: null,
  resume_at: null,
  ...changed,
});
const soak = (until: string) =>
  row({ status: 'waiting', current_step: 'soak:1', updated_at: ago(3_600), resume_at: until });

describe('a concern about an operation', () => {
  it.each([
    ['no worker has claimed it', row({ status: 'pending', attempt: 0 }), /no worker has picked it up for 2 min/],
    ['it runs without progress', row({ updated_at: ago(90) }), /no progress for 1 min 30 s/],
    ['it is being cancelled without progress', row({ status: 'cancelling', updated_at: ago(90) }), /no progress/],
    ['it tries again', row({ attempt: 3 }), /await_ready: attempt 3 of 5/],
    ['it waits for a person', row({ status: 'waiting', waiting_for: 'approval' }), /has waited for approval for 5 s/],
    ['it waits long', row({ status: 'waiting', updated_at: ago(90) }), /await_ready has waited for 1 min 30 s/],
    [
      'it waits long for capacity',
      row({ status: 'waiting', waiting_for: 'capacity', updated_at: ago(90) }),
      /await_ready has waited for capacity of the target for 1 min 30 s/,
    ],
    ['its soak is over and nothing happens', soak(ago(45)), /overdue by 45 s/],
  ])('exists if %s', (_, operation, text) => expect(concernOf(operation, NOW)?.text).toMatch(text));

  it.each([
    ['an operation that was requested just now', row({ status: 'pending', attempt: 0, created_at: ago(3) })],
    ['an operation that makes progress', row()],
    ['a soak, however long it takes', soak(ago(-600))],
    ['a soak that has ended just now', soak(ago(5))],
    ['a wait that has begun just now', row({ status: 'waiting' })],
  ])('does not exist for %s', (_, operation) => expect(concernOf(operation, NOW)).toBeUndefined());
});

it('sorts the worst first, then the oldest', () => {
  const rows = {
    fine: row({ created_at: ago(9_000) }),
    young: row({ attempt: 2, created_at: ago(100) }),
    old: row({ attempt: 2, created_at: ago(500) }),
    alone: row({ status: 'pending', attempt: 0 }),
  };
  expect(stuckFirst(Object.values(rows), NOW)).toEqual([rows.alone, rows.old, rows.young, rows.fine]);
});
