import { describe, expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import {
  disrupted,
  exit,
  group,
  LEAVING,
  LOADING,
  member,
  refusal,
  RESTARTED,
  SIZE,
  UNSCHEDULABLE,
  UP,
} from '../../test/group-rows.js';
import { engine, QUOTA, running } from '../../test/pod-rows.js';
import type { Pod } from '../api/objects.js';
import { GroupRefusals } from './pod-groups.js';
import { endInGroup } from './pod-ends.js';
import { observationOf } from './pod-state.js';

const seen = (pods: Pod[], unit = group()) => observationOf({ unit, pods, generation: 1 });
const [leader, first, second] = [0, 1, 2].map((index) => member(index, UP)) as [Pod, Pod, Pod];

describe('a group', () => {
  it('is ready when all of its pods are, has the address of its leader, and is one life as long as the leader', () => {
    expect(seen([second, leader, first])).toEqual({
      state: 'ready',
      generation: 1,
      baseUrl: 'http://10.1.2.1:28734',
      incarnation: 'p0/0',
      restarts: 0,
      place: 'node-0',
    });
  });

  it.each<[string, Pod[], Partial<Observation>]>([
    ['a worker that is not there', [leader, first], { state: 'starting', reason: 'loading' }],
    ['no worker yet', [leader], { state: 'starting', message: `1 of the ${SIZE} pods of its group are running` }],
    ['a worker that begins', [leader, first, member(2, LOADING)], { state: 'starting', reason: 'loading' }],
    ['a worker without a node', [leader, first, member(2, UNSCHEDULABLE)], { reason: 'unschedulable' }],
    [
      'a worker whose engine ended',
      [leader, first, member(2, RESTARTED)],
      {
        state: 'starting',
        reason: 'crash_loop',
        lastExit: { code: 3, reason: 'exited', at: expect.any(String) as never },
      },
    ],
    [
      'a worker that is evicted',
      [leader, first, member(2, disrupted('EvictionByEvictionAPI'))],
      { state: 'unhealthy', reason: 'evicted' },
    ],
    ['a worker that goes', [leader, first, member(2, UP, LEAVING)], { state: 'unhealthy', reason: 'deleted' }],
    [
      'a worker on a node that is lost',
      [leader, first, member(2, disrupted('DeletionByTaintManager'), LEAVING)],
      { state: 'unhealthy', reason: 'node_lost' },
    ],
    [
      'a leader that goes for an evicted worker',
      [member(0, UP, LEAVING), first, member(2, disrupted('EvictionByEvictionAPI'), LEAVING)],
      {
        state: 'unhealthy',
        reason: 'evicted',
        lastExit: { code: null, reason: 'evicted', at: expect.any(String) as never },
      },
    ],
    ['a leader that goes', [member(0, UP, LEAVING), first, second], { state: 'unhealthy', reason: 'deleted' }],
    ['a leader that loads', [member(0, LOADING), first, second], { state: 'starting', reason: 'loading' }],
    [
      'a leader that waits for a worker without a node',
      [member(0, LOADING), first, member(2, UNSCHEDULABLE)],
      { state: 'starting', reason: 'unschedulable', message: 'no room' },
    ],
    [
      'a leader that has a reason of its own',
      [member(0, UNSCHEDULABLE), member(1, disrupted('EvictionByEvictionAPI'))],
      { reason: 'unschedulable' },
    ],
    [
      'a worker in the place of another one',
      [leader, first, member(2, UP, { creationTimestamp: '2026-03-01T10:00:31Z' })],
      {
        state: 'unhealthy',
        reason: 'killed',
        message: expect.stringContaining('was not started with the current leader') as never,
      },
    ],
    [
      'a worker of the group before',
      [leader, first, member(2, UP, { creationTimestamp: '2026-03-01T09:59:59Z' })],
      { state: 'starting', reason: 'loading', message: `2 of the ${SIZE} pods of its group are running` },
    ],
    ['no leader', [first, second], { state: 'starting', reason: 'loading' }],
  ])('with %s is not ready', (_case, pods, expected) => expect(seen(pods)).toMatchObject(expected));

  it('with a restarted container is not ready, and is one life as long as all its pods', () => {
    const restarted = member(0, { ...UP, ...engine({ restartCount: 1, state: running }) });
    expect(seen([restarted, first, second])).toMatchObject({ state: 'starting', incarnation: 'p0/0', restarts: 1 });
    const worker = member(2, { ...UP, ...engine({ restartCount: 1, state: running }) });
    expect(seen([leader, first, worker])).toMatchObject({ state: 'starting', incarnation: 'p0/0', restarts: 0 });
  });

  it('that was stopped has ended when its last pod has', () => {
    const stopped = group({ spec: { ...group().spec, replicas: 0 } });
    expect(seen([first], stopped)).toMatchObject({ state: 'stopping', reason: 'terminated' });
    expect(seen([], stopped)).toMatchObject({ state: 'exited', reason: 'terminated' });
  });

  it('that another client scaled keeps its state', () => {
    const scaled = group({ spec: { ...group().spec, replicas: 2 } });
    scaled.metadata.generation = 2;
    expect(seen([leader, first, second], scaled)).toMatchObject({ state: 'ready' });
  });
});

describe('the reason why pods of a group are missing', () => {
  const told = (pods: Pod[], events = [refusal(QUOTA)]) => {
    const refusals = new GroupRefusals();
    for (const event of events) refusals.note(undefined, event);
    return observationOf({ unit: group(), pods, generation: 1, refused: (...of) => refusals.of(...of) });
  };

  it('has the words of the server about the leader or the workers', () => {
    expect(told([])).toMatchObject({ state: 'starting', reason: 'quota_exceeded', message: QUOTA });
    const ofWorkers = refusal(QUOTA, {
      involvedObject: { ...refusal('').involvedObject!, name: leader.metadata.name },
    });
    expect(told([member(0, LOADING), first], [ofWorkers])).toMatchObject({ reason: 'quota_exceeded' });
    expect(told([leader, first], [ofWorkers])).toMatchObject({ state: 'starting', reason: 'quota_exceeded' });
  });

  it('is unknown for another group, for a time before the last pod was created, or when no pod is missing', () => {
    const other = refusal(QUOTA, { involvedObject: { ...refusal('').involvedObject!, name: 'another' } });
    expect(told([], [other])).toMatchObject({ reason: 'loading' });
    const later = { creationTimestamp: '2026-03-01T10:00:02Z' };
    expect(told([member(0, LOADING, later)])).toMatchObject({ reason: 'loading' });
    expect(told([member(0, LOADING), first, second])).toMatchObject({ reason: 'loading' });
  });

  it('is removed with its event', () => {
    const refusals = new GroupRefusals();
    const newer = refusal(QUOTA, { lastTimestamp: '2026-03-01T10:00:05Z' });
    refusals.note(undefined, refusal('an older word'));
    refusals.note(refusal('an older word'), newer);
    expect(refusals.of(group(), [])).toBe(QUOTA);
    refusals.note(newer, undefined);
    expect(refusals.of(group(), [])).toBeUndefined();
  });
});

describe('the end of a group', () => {
  const gone = (pod: Pod) => ({ ...pod, metadata: { ...pod.metadata, ...LEAVING } });
  const evicted = gone(member(1, disrupted('EvictionByEvictionAPI')));
  const all = [gone(leader), evicted, gone(second)];

  it.each([
    ['first', [1, 0, 2]],
    ['last', [0, 2, 1]],
  ])('has the cause of the pod that knows it, even if that pod ends %s', (_when, order) => {
    const end = order.map((index) => all[index]!).reduce((known, pod) => endInGroup(pod, known), undefined as any);
    expect(end).toMatchObject({ reason: 'evicted' });
  });

  it('that comes much later is another end', () => {
    const long = { code: null, reason: 'evicted' as const, at: '2026-03-01T09:00:00Z' };
    expect(endInGroup(gone(leader), long)).toMatchObject({ reason: 'deleted' });
  });

  it('is the crash of the pod whose restart caused the restart of all', () => {
    const crashed = endInGroup(gone(member(2, RESTARTED)), undefined);
    expect(crashed).toMatchObject({ code: 3, reason: 'exited' });
    expect(endInGroup(gone(leader), crashed)).toBe(crashed);
    // It runs again when the controller deletes all pods.
    const again = { ...UP, ...engine({ restartCount: 1, state: running, lastState: exit }) };
    expect(endInGroup(gone(member(2, again)), undefined)).toMatchObject({ code: 3, reason: 'exited' });
  });
});
