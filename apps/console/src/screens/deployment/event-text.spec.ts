import { describe, expect, it } from '@jest/globals';
import type { DeploymentEvent } from '@slipway/sdk';
import { eventLine, isEventMatch } from './event-text.js';

const event = (data: Record<string, unknown>) =>
  ({
    sequence: 7,
    type: 'rollout.step_advanced',
    actor: 'system:worker',
    subject: 'operations/op_1',
    data,
  }) as unknown as DeploymentEvent;

describe('an event on one line', () => {
  it('shows the important fields first', () =>
    expect(eventLine(event({ progress: 33, step: 'soak:1', status: 'waiting' }))).toBe('step soak:1, status waiting'));
  it('shows the fields of an unknown kind, shortened', () => {
    const line = eventLine(event({ a: 1, b: { c: 2 }, d: 'x'.repeat(500), e: 4, f: 5 }));
    expect(line.startsWith('a 1, b {"c":2}, d xxx')).toBe(true);
    expect(line.length).toBeLessThan(150);
  });
});

describe('the filter', () => {
  it.each([
    ['', true],
    ['rollout', true],
    ['WORKER step', true],
    ['soak:1', true],
    ['route', false],
    ['rollout route', false],
  ])('%j: %s', (filter, expected) => expect(isEventMatch(event({ step: 'soak:1' }), filter)).toBe(expected));
});
