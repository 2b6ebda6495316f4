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
import { endOfPod } from './pod-ends.js';
import { observationOf, podOf, refusalReason } from './pod-state.js';

const seen = (pods: Pod[], of: Deployment = unit()) => observationOf({ unit: of, generation: 1, pods });

describe('the state from the objects of a unit', () => {
  it.each(rows.map(([name, pods, expected, of]) => ({ name, pods, expected, of })))(
    '$name',
    ({ pods, expected, of }) => {
      const keys = ['generation', ...Object.keys(expected)] as (keyof Observation)[];
      const observed = seen(pods, of);
      expect(Object.fromEntries(keys.map((key) => [key, observed[key]]))).toEqual({ generation: 1, ...expected });
    },
  );

  it('includes how an evicted pod ended that another pod replaces', () => {
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

  it.each<[string, Partial<ContainerStatus>, Partial<Pod['metadata']>, string | undefined]>([
    ['still serves', { state: running, ready: true }, { deletionTimestamp: LATER }, 'http://10.1.2.3:8000'],
    ['no longer serves', { state: running, ready: false }, { deletionTimestamp: LATER }, undefined],
    ['stays', { state: running, ready: true }, {}, undefined],
  ])('has the address of an earlier pod that %s', (_which, status, metadata, endingUrl) => {
    const old = pod({ conditions: ready, ...engine(status) }, { name: 'old', uid: 'p0', ...metadata });
    const fresh = pod({ phase: 'Pending', conditions: [scheduled], podIP: undefined }, { name: 'fresh', uid: 'p2' });
    expect(seen([old]).endingUrl).toBe(endingUrl);
    expect(seen([fresh, old]).endingUrl).toBe(endingUrl);
    expect(observationOf({ unit: unit(), generation: 1, pods: [old], reach: 'service' }).endingUrl).toBe(
      endingUrl && 'http://slw-chat-1-0-0190c0de-g1.models.svc:8000',
    );
  });

  it('is at second hand only if a node no longer reports', () => {
    const isSecondHand = (status: PodStatus, metadata: Partial<Pod['metadata']> = {}) =>
      seen([pod({ ...status, ...engine({ state: running, started: true }) }, metadata)]).isSecondHand;
    const silent = [scheduled, condition('ContainersReady', 'True'), condition('Ready', 'False')];
    const unready = [scheduled, condition('ContainersReady', 'False'), condition('Ready', 'False')];
    const gone = condition('DisruptionTarget', 'True', { reason: 'DeletionByTaintManager' });
    expect(isSecondHand({ conditions: silent })).toBe(true);
    expect(isSecondHand({ conditions: [...silent, gone] }, { deletionTimestamp: LATER })).toBe(true);
    expect(isSecondHand({ conditions: unready })).toBeUndefined();
    expect(isSecondHand({ conditions: ready }, { deletionTimestamp: LATER })).toBeUndefined();
  });

  it('remembers that this life was ready, whatever times the server reports', () => {
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

  it('is never ready without an address, and accepts no text that is not an address', () => {
    for (const podIP of [undefined, '', 'evil.example/', '10.1.2.3:80@x']) {
      const told = seen([pod({ podIP, conditions: ready, ...engine({ state: running, started: false }) })]);
      expect([told.state, told.baseUrl]).toEqual(['starting', undefined]);
    }
    expect(seen([pod({ podIP: 'fd00::7', conditions: ready })]).baseUrl).toBe('http://[fd00::7]:8000');
  });

  it('keeps foreign text on one line of limited length', () => {
    const message = `bad\n\u001b[31m${'x'.repeat(10_000)}`;
    const told = seen([
      pod({ conditions: [scheduled], ...engine({ state: { waiting: { reason: 'ErrImagePull', message } } }) }),
    ]);
    expect(told.message).toMatch(/^ErrImagePull: bad \[31mx+$/);
    expect(told.message!.length).toBeLessThanOrEqual(400);
  });

  it('is starting for objects without usable fields', () => {
    const garbage = {
      metadata: { name: 'x', uid: 'g' },
      status: { conditions: [{} as Condition], containerStatuses: [{} as ContainerStatus] },
    };
    expect(seen([garbage]).state).toBe('starting');
    expect(seen([{ metadata: { name: 'y' } }], { metadata: { name: 'u' } }).state).toBe('starting');
  });
});

describe('the pod of an instance', () => {
  const of = (name: string, status: PodStatus, more: Partial<Pod['metadata']> = {}) =>
    pod(status, { name, uid: name, creationTimestamp: `2026-03-01T10:00:0${name.at(-1)}Z`, ...more });

  it('is a ready one, else the oldest that stays, else the newest that is being deleted', () => {
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

describe('the end of a pod that a client deleted', () => {
  /** Deleted at 10:07:00. */
  const deleted = { deletionTimestamp: '2026-03-01T10:07:45Z', deletionGracePeriodSeconds: 45 };
  const ended = (finishedAt: string, exitCode = 1) => ({ terminated: { exitCode, reason: 'Error', finishedAt } });
  const [before, after] = ['2026-03-01T10:06:59Z', '2026-03-01T10:07:10Z'];

  it.each<[string, Partial<ContainerStatus>, string]>([
    ['that was being created', { state: { waiting: { reason: 'ContainerCreating' } } }, 'deleted'],
    ['that was loading', { state: running, started: false }, 'deleted'],
    ['that had crashed once and ran again', { state: running, lastState: ended(before), restartCount: 1 }, 'deleted'],
    ['whose engine ended by the signal', { state: ended(after, 143) }, 'deleted'],
    ['whose engine ended in the second of the deletion', { state: ended('2026-03-01T10:07:00Z') }, 'deleted'],
    ['whose engine had crashed', { state: ended(before) }, 'exited'],
    [
      'that waited after a crash',
      { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(before, 139) },
      'killed',
    ],
    [
      'that never started',
      { state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } }, started: false },
      'deleted',
    ],
  ])('of an engine %s is %s', (_which, status, reason) => {
    expect(endOfPod(pod({ conditions: [], ...engine(status) }, deleted))).toMatchObject({ reason });
  });

  it('is no end of its engine if the pod only disappeared, and is a crash if its node refused it', () => {
    expect(endOfPod(pod({ conditions: ready, ...engine({ state: running }) }))).toMatchObject({ reason: 'deleted' });
    const refused = { phase: 'Failed', reason: 'UnexpectedAdmissionError' };
    expect(endOfPod(pod(refused))).toMatchObject({ reason: 'killed' });
    expect(endOfPod(pod(refused, deleted))).toMatchObject({ reason: 'killed' });
    const removed = { deletionTimestamp: '2026-03-01T10:07:12Z', deletionGracePeriodSeconds: 0 };
    const spec = { terminationGracePeriodSeconds: 45 };
    const last = pod({ phase: 'Succeeded', ...engine({ state: ended(after, 0) }) }, removed, spec);
    expect(endOfPod(last)).toMatchObject({ reason: 'deleted' });
    // The kubelet has ended it.
    expect(endOfPod(pod({ phase: 'Failed', ...engine({ state: ended(after, 137) }) }, deleted))).toMatchObject({
      reason: 'deleted',
    });
  });
});

describe('the reason of a refusal', () => {
  it.each([
    [QUOTA, 403, 'quota_exceeded'],
    [SECURITY, 403, 'admission_denied'],
    [WEBHOOK, 400, 'admission_denied'],
    ['strict decoding error: unknown field "spec.template.spec.contianers"', 400, 'invalid_template'],
    ['whatever else', 403, 'admission_denied'],
    ['deployments.apps "x" is forbidden: Exceeded compute quota: gpus', 403, 'quota_exceeded'],
    ['quota "gpus" exceeded', 403, 'quota_exceeded'],
    ['status unknown for quota: gpus, resources: limits.cpu', 403, 'quota_exceeded'],
    ['failed quota: cpu: must specify requests.cpu for: engine', 403, 'admission_denied'],
    ['admission webhook "kueue" denied the request: exceeded quota', 403, 'quota_exceeded'],
    ['failed calling webhook "x": failed to call webhook: context deadline exceeded', 500, 'target_unavailable'],
    ['unable to create new content in namespace a because it is being terminated', 403, 'target_unavailable'],
    ["ValidatingAdmissionPolicy 'x' with binding 'y' denied request: timed out", 422, 'admission_denied'],
    ['maximum memory usage per Container is 1Gi, but limit is 2Gi', 403, 'admission_denied'],
  ])('is read from the text %s', (words, status, reason) => {
    expect(refusalReason(words, status)).toBe(reason);
  });
});
