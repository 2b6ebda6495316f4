import { describe, expect, it } from '@jest/globals';
import { isRetired, trafficOf, whyNoRollback } from './traffic.js';

const served = { active_revision: 'chat-00001', candidate_revision: 'chat-00002', previous_revision: null };
const route = {
  targets: [
    { revision: 'chat-00001', weight: 80 },
    { revision: 'chat-00002', weight: 20 },
  ],
};

describe('the traffic shares', () => {
  it('show the desired share next to the share of the requests', () => {
    const instances = [
      { revision: 'chat-00001', state: 'ready' },
      { revision: 'chat-00002', state: 'ready' },
      { revision: 'chat-00002', state: 'unhealthy' },
    ];
    const requests = new Map([
      ['chat-00001', 30],
      ['chat-00002', 10],
    ]);
    expect(trafficOf(served, route, instances, requests)).toEqual([
      { revision: 'chat-00001', desired: 80, actual: 75, healthy: 1, instances: 1, role: 'active', isLastGood: true },
      {
        revision: 'chat-00002',
        desired: 20,
        actual: 25,
        healthy: 1,
        instances: 2,
        role: 'candidate',
        isLastGood: false,
      },
    ]);
  });

  it('have no actual weights if there was no request', () => {
    expect(trafficOf(served, route, [], new Map()).map(({ actual }) => actual)).toEqual([null, null]);
  });

  it('include revisions without a route: a warm one still uses capacity', () => {
    const rows = trafficOf(served, null, [{ revision: 'chat-00000', state: 'draining' }], new Map());
    expect(rows.map(({ revision, desired, role }) => [revision, desired, role])).toEqual([
      ['chat-00001', null, 'active'],
      ['chat-00002', null, 'candidate'],
      ['chat-00000', null, 'other'],
    ]);
  });
});

describe('the legend', () => {
  const retiredOf = (deployment: object, instances: Parameters<typeof trafficOf>[2], requests: [string, number][]) =>
    trafficOf({ ...served, ...deployment }, route, instances, new Map(requests))
      .filter(isRetired)
      .map(({ revision }) => revision);
  const old = { revision: 'chat-00000', state: 'draining' };

  it('folds a revision away once it has left the traffic', () => {
    expect(retiredOf({}, [old], [['chat-00001', 9]])).toEqual(['chat-00000']);
    expect(retiredOf({}, [old], [])).toEqual(['chat-00000']);
    // Its last requests are still in the bars.
    expect(retiredOf({}, [old], [['chat-00000', 1]])).toEqual([]);
  });

  it('keeps the previous revision as long as it could serve at once', () => {
    const previous = { previous_revision: 'chat-00000' };
    expect(retiredOf(previous, [{ ...old, state: 'ready' }], [])).toEqual([]);
    expect(retiredOf(previous, [old], [])).toEqual(['chat-00000']);
  });
});

describe('why a rollback is refused', () => {
  const good = { name: 'chat-00001', state: 'standby', ready_at: '2026-01-01T00:00:00Z' };
  it('is null for a revision that was ready once', () => expect(whyNoRollback(good, 'chat-00002', false)).toBeNull());
  it.each([
    [{ ...good, state: 'failed' }, 'chat-00002', false, 'It failed.'],
    [good, 'chat-00001', false, 'It already gets all traffic.'],
    [{ ...good, ready_at: null }, 'chat-00002', false, 'It was never ready.'],
  ])('gives a reason: %#', (revision, active, isLive, why) =>
    expect(whyNoRollback(revision, active, isLive)).toBe(why),
  );
  it('is null for the active revision while a rollout takes traffic from it', () =>
    expect(whyNoRollback(good, 'chat-00001', true)).toBeNull());
});
