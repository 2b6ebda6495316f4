import { describe, expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import type { Condition, ContainerStatus, Deployment, Pod, PodStatus } from '../api/objects.js';
import {
  condition,
  engine,
  LATER,
  pod,
  QUOTA,
  ready,
  rows,
  running,
  scheduled,
  SECURITY,
  STARTED,
  unit,
  WEBHOOK,
} from '../../test/pod-rows.js';
import { driftOf, observationOf, podOf, refusalReason } from './pod-state.js';

const seen = (pods: Pod[], of: Deployment = unit()) => observationOf({ unit: of, generation: 1, pods });

describe('from objects to a state', () => {
  it.each(rows.map(([name, pods, expected, of]) => ({ name, pods, expected, of })))(
    '$name',
    ({ pods, expected, of }) => {
      const keys = ['generation', ...Object.keys(expected)] as (keyof Observation)[];
      const observed = seen(pods, of);
      expect(Object.fromEntries(keys.map((key) => [key, observed[key]]))).toEqual({ generation: 1, ...expected });
    },
  );

  it('tells of a pod that replaces an evicted one how that one ended', () => {
    const old = pod({ phase: 'Failed', reason: 'Evicted', conditions: [] }, { name: 'old', uid: 'p0' });
    const fresh = pod({ phase: 'Pending', conditions: [scheduled], podIP: undefined }, { uid: 'p2' });
    expect(seen([old, fresh])).toMatchObject({
      state: 'starting',
      incarnation: 'p2/0',
      lastExit: { code: null, reason: 'evicted' },
    });
    const left = { code: null, reason: 'node_lost' } as const;
    expect(observationOf({ unit: unit(), generation: 1, pods: [fresh], left }).lastExit).toEqual(left);
  });

  it('remembers that this life was ready, whatever the seconds of the server say', () => {
    const unready = pod({
      conditions: [
        scheduled,
        condition('ContainersReady', 'False'),
        condition('Ready', 'False', { lastTransitionTime: STARTED }),
      ],
      ...engine({ state: running, started: true }),
    });
    expect(seen([unready]).state).toBe('starting');
    const wasReady = (incarnation: string) => incarnation === 'p1/0';
    expect(observationOf({ unit: unit(), generation: 1, pods: [unready], wasReady })).toMatchObject({
      state: 'unhealthy',
      reason: 'probe_failed',
    });
  });

  it('is never ready without an address, and takes nothing for one that is none', () => {
    for (const podIP of [undefined, '', 'evil.example/', '10.1.2.3:80@x']) {
      const told = seen([pod({ podIP, conditions: ready, ...engine({ state: running, started: false }) })]);
      expect([told.state, told.baseUrl]).toEqual(['starting', undefined]);
    }
    expect(seen([pod({ podIP: 'fd00::7', conditions: ready })]).baseUrl).toBe('http://[fd00::7]:8000');
  });

  it('keeps the words of others on one line of bounded length', () => {
    const message = `bad\n\u001b[31m${'x'.repeat(10_000)}`;
    const told = seen([
      pod({ conditions: [scheduled], ...engine({ state: { waiting: { reason: 'ErrImagePull', message } } }) }),
    ]);
    expect(told.message).toMatch(/^ErrImagePull: bad \[31mx+$/);
    expect(told.message!.length).toBeLessThanOrEqual(400);
  });

  it('has one answer for garbage', () => {
    const garbage = {
      metadata: { name: 'x', uid: 'g' },
      status: { conditions: [{} as Condition], containerStatuses: [{} as ContainerStatus] },
    };
    expect(seen([garbage]).state).toBe('starting');
    expect(seen([{ metadata: { name: 'y' } }], { metadata: { name: 'u' } }).state).toBe('starting');
  });
});

describe('the pod that an instance is', () => {
  const of = (name: string, status: PodStatus, more: Partial<Pod['metadata']> = {}) =>
    pod(status, { name, uid: name, creationTimestamp: `2026-03-01T10:00:0${name.at(-1)}Z`, ...more });

  it('is a ready one, else the oldest that stays, else the newest that leaves', () => {
    const [first, second] = [of('p1', {}), of('p2', {})];
    const serving = of('p3', { conditions: ready });
    const leaving = [
      of('p4', { conditions: ready }, { deletionTimestamp: LATER }),
      of('p5', {}, { deletionTimestamp: LATER }),
    ];
    expect(podOf([first, second, serving, ...leaving])).toBe(serving);
    expect(podOf([second, ...leaving, first])).toBe(first);
    expect(podOf(leaving)).toBe(leaving[1]);
    expect(podOf([of('p6', { phase: 'Failed' })])).toBeUndefined();
  });
});

describe('what somebody else changed', () => {
  it.each([
    [1, 1, undefined],
    [2, 3, 'it has 3 replicas'],
    [2, 1, 'was changed outside Slipway'],
    [2, 0, undefined],
  ])('generation %d with %d replicas', (generation, replicas, words) => {
    const drift = driftOf({ metadata: { name: 'u', generation }, spec: { replicas } });
    if (words === undefined) expect(drift).toBeUndefined();
    else expect(drift).toContain(words);
  });
});

describe('why something may not be made', () => {
  it.each([
    [QUOTA, 403, 'quota_exceeded'],
    [SECURITY, 403, 'admission_denied'],
    [WEBHOOK, 400, 'admission_denied'],
    ['strict decoding error: unknown field "spec.template.spec.contianers"', 400, 'invalid_template'],
    ['whatever else', 403, 'admission_denied'],
  ])('%s', (words, status, reason) => {
    expect(refusalReason(words, status)).toBe(reason);
  });
});
