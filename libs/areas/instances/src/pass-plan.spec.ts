import { expect, it } from '@jest/globals';
import type { InstanceState } from './instance.entity.js';
import type { InstanceRow, WorkloadRow } from './instance.query.js';
import { planPass } from './pass-plan.js';

const instance = (state: InstanceState, ordinal = 0, more: Partial<InstanceRow> = {}): InstanceRow => ({
  id: `ins_${ordinal}`,
  ordinal,
  generation: 1,
  state,
  base_url: null,
  incarnation: null,
  reason: null,
  place: null,
  restarts: 0,
  crash_streak: 0,
  message: null,
  version: 1,
  state_age: 0,
  ready_age: null,
  start_in: null,
  ...more,
});

const workload = (instances: InstanceRow[], more: Partial<WorkloadRow> = {}): WorkloadRow => ({
  revision_id: 'rev_1',
  tenant_id: 't',
  deployment_id: 'dep_1',
  revision_name: 'chat-00001',
  replicas: 1,
  is_held: true,
  instances,
  spec: { model: { id: 'm' }, runtime: { target: 'local', args: {}, env: {} }, scaling: { min_replicas: 1 } },
  ...more,
});

const kindsOf = (workloads: WorkloadRow[], max = 16) => planPass(workloads, max).tasks.map(({ kind }) => kind);

it.each<[InstanceState, string | undefined, string | undefined]>([
  ['pending', 'start', 'withdraw'],
  ['starting', 'look', 'withdraw'],
  ['ready', 'look', 'withdraw'],
  ['unhealthy', 'look', 'withdraw'],
  ['backing_off', 'start', 'withdraw'],
  ['stopping', 'reclaim', 'terminate'],
  ['stopped', 'revive', undefined],
])('%s: %s while held, %s without a hold', (state, held, released) => {
  expect(kindsOf([workload([instance(state)])])).toEqual([held]);
  expect(kindsOf([workload([instance(state)], { is_held: false })])).toEqual(released === undefined ? [] : [released]);
});

it('adds the rows that are missing, for held workloads only', () => {
  expect(planPass([workload([instance('ready', 1)], { replicas: 3 })], 16).missing[0]?.ordinals).toEqual([0, 2]);
  expect(planPass([workload([], { replicas: 3, is_held: false })], 16).missing).toEqual([]);
});

it('lets go of what is beyond the wanted number, though the workload is held', () => {
  const shrunk = [instance('ready', 0), instance('ready', 1), instance('stopping', 2)];
  expect(kindsOf([workload(shrunk, { replicas: 1 })])).toEqual(['look', 'withdraw', 'terminate']);
});

it('starts no more than there are places, and waits for those on their way out', () => {
  const first = workload([instance('pending', 0), instance('pending', 1)], { replicas: 2 });
  expect(kindsOf([first], 1)).toEqual(['start', 'queue']);
  const leaving = workload([instance('stopping')], { is_held: false });
  expect(kindsOf([leaving, workload([instance('pending')])], 1)).toEqual(['terminate', 'queue']);
  const gone = workload([instance('stopped')], { is_held: false });
  expect(kindsOf([gone, workload([instance('pending')])], 1)).toEqual(['start']);
  expect(kindsOf([workload([instance('backing_off')]), workload([instance('pending')])], 1)).toEqual([
    'start',
    'queue',
  ]);
});

it('waits for the end of a back-off', () => {
  expect(planPass([workload([instance('backing_off', 0, { start_in: 1.5 })])], 16).tasks[0]?.inMs).toBe(1_500);
  expect(planPass([workload([instance('backing_off', 0, { start_in: -3 })])], 16).tasks[0]?.inMs).toBe(0);
});

it('retires a workload that nobody holds when its last instance has stopped', () => {
  const isRetirable = (instances: InstanceRow[], isHeld: boolean) =>
    planPass([workload(instances, { is_held: isHeld })], 16).retirable.length === 1;
  expect(isRetirable([instance('stopped'), instance('stopping', 1)], false)).toBe(false);
  expect(isRetirable([instance('stopped'), instance('stopped', 1)], false)).toBe(true);
  expect(isRetirable([], false)).toBe(true);
  expect(isRetirable([instance('stopped')], true)).toBe(false);
});
