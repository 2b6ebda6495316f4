import { describe, expect, it } from '@jest/globals';
import type { LifecycleState } from '../workloads/instance.entity.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { planPass } from './pass-plan.js';

const instance = (state: LifecycleState, ordinal = 0, more: Partial<InstanceRow> = {}): InstanceRow => ({
  id: `ins_${ordinal}`,
  ordinal,
  generation: 1,
  state,
  base_url: null,
  incarnation: null,
  reason: null,
  place: null,
  drift: null,
  ending_url: null,
  doubted: false,
  made_at: null,
  restarts: 0,
  crash_streak: 0,
  message: null,
  version: 1,
  state_age_seconds: 0,
  ready_age_seconds: null,
  start_in_seconds: null,
  target: 'local',
  key_id: null,
  failure: null,
  failed_starts: 0,
  model_seen: false,
  progress: null,
  observed_age_seconds: 0,
  drain_left_seconds: null,
  replace_drain_seconds: null,
  abandons_silent: false,
  ...more,
});

const workload = (instances: InstanceRow[], more: Partial<WorkloadRow> = {}): WorkloadRow => ({
  revision_id: 'rev_1',
  tenant_id: 't',
  tenant_name: 'acme',
  deployment_id: 'dep_1',
  revision_name: 'chat-00001',
  replicas: 1,
  is_retained: true,
  retainers: ['route'],
  warm_age_seconds: null,
  suspended_by: null,
  is_waking: false,
  abandons_silent: false,
  suspended_drain_seconds: null,
  instances,
  spec: { model: { id: 'm' }, runtime: { target: 'local', args: {}, env: {} }, scaling: { min_replicas: 1 } },
  ...more,
});

const kindsOf = (workloads: WorkloadRow[], max = 16) => planPass(workloads, max).tasks.map(({ kind }) => kind);

it.each<[LifecycleState, string | undefined, string | undefined]>([
  ['pending', 'start', 'withdraw'],
  ['starting', 'look', 'withdraw'],
  ['ready', 'look', 'withdraw'],
  ['unhealthy', 'look', 'withdraw'],
  ['backing_off', 'start', 'withdraw'],
  ['stopping', 'reclaim', 'terminate'],
  ['stopped', 'revive', undefined],
])(
  'an instance in the state %s gets the task %s while its workload is retained, and %s otherwise',
  (state, held, released) => {
    expect(kindsOf([workload([instance(state)])])).toEqual([held]);
    expect(kindsOf([workload([instance(state)], { is_retained: false })])).toEqual(
      released === undefined ? [] : [released],
    );
  },
);

it('an instance that is to be replaced stops and starts again, also out of a back-off', () => {
  const marked = { replace_drain_seconds: 60 };
  const taskOf = (state: LifecycleState, more: Partial<WorkloadRow> = {}) =>
    kindsOf([workload([instance(state, 0, marked), instance('ready', 1)], { replicas: 2, ...more })]);
  expect(taskOf('ready')).toEqual(['withdraw', 'look']);
  expect(taskOf('stopping')).toEqual(['terminate', 'look']);
  // It keeps its capacity, so no other workload starts meanwhile.
  const replaced = workload([instance('stopping', 0, marked)]);
  expect(kindsOf([replaced, workload([instance('pending')])], 1)).toEqual(['terminate', 'queue']);
});

it('missing rows are added for retained workloads only', () => {
  expect(planPass([workload([instance('ready', 1)], { replicas: 3 })], 16).missing[0]?.ordinals).toEqual([0, 2]);
  expect(planPass([workload([], { replicas: 3, is_retained: false })], 16).missing).toEqual([]);
});

it('instances beyond the wanted number are stopped, even if the workload is retained', () => {
  const shrunk = [instance('ready', 0), instance('ready', 1), instance('stopping', 2)];
  expect(kindsOf([workload(shrunk, { replicas: 1 })])).toEqual(['look', 'withdraw', 'terminate']);
});

it('no more instances start than there is capacity for, and stopping instances still use capacity', () => {
  const first = workload([instance('pending', 0), instance('pending', 1)], { replicas: 2 });
  expect(kindsOf([first], 1)).toEqual(['start', 'queue']);
  const leaving = workload([instance('stopping')], { is_retained: false });
  expect(kindsOf([leaving, workload([instance('pending')])], 1)).toEqual(['terminate', 'queue']);
  const gone = workload([instance('stopped')], { is_retained: false });
  expect(kindsOf([gone, workload([instance('pending')])], 1)).toEqual(['start']);
  expect(kindsOf([workload([instance('backing_off')]), workload([instance('pending')])], 1)).toEqual([
    'start',
    'queue',
  ]);
});

it('a suspended workload stops without retiring, and its capacity is kept for the operation that suspended it', () => {
  const suspended = { suspended_by: 'op_1', revision_id: 'rev_old' };
  const gone = workload([instance('stopped')], suspended);
  expect(kindsOf([workload([instance('ready')], suspended)])).toEqual(['withdraw']);
  expect(planPass([gone], 1)).toMatchObject({ tasks: [], missing: [], retirable: [] });
  const stranger = workload([instance('pending')]);
  const candidate = workload([instance('pending', 0), instance('pending', 1)], {
    replicas: 2,
    retainers: ['operation:op_1'],
  });
  expect(kindsOf([gone, stranger, candidate], 1)).toEqual(['queue', 'start', 'queue']);
  expect(kindsOf([gone, stranger, candidate], 2)).toEqual(['start', 'start', 'queue']);
});

it('a resumed workload gets free capacity before later ones', () => {
  const resumed = workload([instance('stopped')]);
  expect(kindsOf([resumed, workload([instance('pending')])], 1)).toEqual(['revive', 'queue']);
});

it('the longest warm workloads are evicted for a waiting one, and no more than necessary', () => {
  const warm = (revision_id: string, warm_age_seconds: number, replicas: number) =>
    workload(
      Array.from({ length: replicas }, (_, ordinal) => instance('ready', ordinal)),
      { revision_id, warm_age_seconds, replicas, retainers: ['warm'] },
    );
  const evicted = (...workloads: WorkloadRow[]) => planPass(workloads, 4).evicted.map((one) => one.revision_id);
  const waiting = workload([instance('pending', 0), instance('pending', 1)], { replicas: 2 });
  expect(evicted(warm('young', 1, 1), warm('old', 9, 2), workload([instance('ready')]), waiting)).toEqual(['old']);
  expect(evicted(warm('young', 1, 2), warm('old', 9, 1), workload([instance('ready')]), waiting)).toEqual([
    'old',
    'young',
  ]);
  // Two are already stopping.
  const leaving = workload([instance('stopping', 0), instance('stopping', 1)], { is_retained: false, retainers: [] });
  expect(evicted(warm('young', 1, 2), leaving, waiting)).toEqual([]);
  // They wait for long requests, for an unknown time.
  const draining = { drain_left_seconds: 500, state_age_seconds: 100 };
  const patient = workload([instance('stopping', 0, draining), instance('stopping', 1, draining)], {
    is_retained: false,
    retainers: [],
  });
  expect(evicted(warm('young', 1, 2), patient, waiting)).toEqual(['young']);
  // A workload that is only warm does not evict others.
  expect(evicted(warm('old', 9, 4), { ...waiting, warm_age_seconds: 1, retainers: ['warm'] })).toEqual([]);
});

describe('the share of a tenant', () => {
  const theirs = (instances: InstanceRow[], more: Partial<WorkloadRow> = {}) =>
    workload(instances, { tenant_id: 'u', tenant_name: 'other', revision_id: 'rev_u', ...more });
  const half = (tenantName: string) => (tenantName === 'acme' ? 2 : Number.POSITIVE_INFINITY);

  it('keeps capacity for others, and counts instances that are stopping', () => {
    const greedy = workload([instance('ready', 0), instance('pending', 1), instance('pending', 2)], { replicas: 3 });
    const plan = planPass([greedy, theirs([instance('pending')])], 4, half);
    expect(plan.tasks.map(({ kind, share }) => [kind, share])).toEqual([
      ['look', undefined],
      ['start', undefined],
      ['queue', 2],
      ['start', undefined],
    ]);
    const leaving = workload([instance('stopping', 0), instance('ready', 1)], { replicas: 2, is_retained: false });
    expect(planPass([leaving, workload([instance('pending')])], 4, half).tasks.at(-1)).toMatchObject({
      kind: 'queue',
      share: 2,
    });
  });

  it('evicts only warm workloads of the tenant that waits for its own share', () => {
    const warm = { warm_age_seconds: 9, retainers: ['warm'] };
    const own = workload([instance('ready')], { ...warm, revision_id: 'own', warm_age_seconds: 1 });
    const foreign = theirs([instance('ready')], { ...warm, revision_id: 'foreign' });
    const serving = workload([instance('ready')]);
    const waiting = workload([instance('pending')], { revision_id: 'waiting' });
    const evicted = (...workloads: WorkloadRow[]) =>
      planPass(workloads, 16, half).evicted.map((one) => one.revision_id);
    expect(evicted(own, foreign, serving, waiting)).toEqual(['own']);
    expect(evicted(foreign, serving, workload([instance('ready')]), waiting)).toEqual([]);
  });

  it('keeps capacity for the operation that suspended a workload of the tenant, and not for others', () => {
    const suspended = { suspended_by: 'op_1', revision_id: 'rev_old' };
    const candidate = workload([instance('pending')], { retainers: ['operation:op_1'] });
    const stranger = workload([instance('pending', 0), instance('pending', 1)], { replicas: 2 });
    const kinds = (...workloads: WorkloadRow[]) => planPass(workloads, 16, half).tasks.map(({ kind }) => kind);
    expect(kinds(workload([instance('stopped')], suspended), stranger, candidate)).toEqual(['start', 'queue', 'start']);
    expect(kinds(theirs([instance('stopped')], suspended), stranger)).toEqual(['start', 'start']);
  });
});

it('a start waits for the end of a back-off', () => {
  expect(planPass([workload([instance('backing_off', 0, { start_in_seconds: 1.5 })])], 16).tasks[0]?.inMs).toBe(1_500);
  expect(planPass([workload([instance('backing_off', 0, { start_in_seconds: -3 })])], 16).tasks[0]?.inMs).toBe(0);
});

it('a workload that nothing retains retires when its last instance has stopped', () => {
  const isRetirable = (instances: InstanceRow[], isHeld: boolean) =>
    planPass([workload(instances, { is_retained: isHeld })], 16).retirable.length === 1;
  expect(isRetirable([instance('stopped'), instance('stopping', 1)], false)).toBe(false);
  expect(isRetirable([instance('stopped'), instance('stopped', 1)], false)).toBe(true);
  expect(isRetirable([], false)).toBe(true);
  expect(isRetirable([instance('stopped')], true)).toBe(false);
});

it('nothing starts after a failed start out of a sleep, until the scaler has decided about another start', () => {
  const failed: Partial<InstanceRow> = {
    failure: { cause: 'gpu_memory', exit_code: 1, signal: null },
    failed_starts: 1,
  };
  const waking = { is_waking: true };
  expect(kindsOf([workload([instance('backing_off', 0, failed)], waking)])).toEqual(['judge']);
  expect(kindsOf([workload([instance('backing_off', 0, failed)])])).toEqual(['start']);
  // It has not failed, or the memory of an earlier instance was not free yet.
  expect(kindsOf([workload([instance('backing_off')], waking)])).toEqual(['start']);
  expect(kindsOf([workload([instance('backing_off', 0, { ...failed, failed_starts: 0 })], waking)])).toEqual(['start']);
});
