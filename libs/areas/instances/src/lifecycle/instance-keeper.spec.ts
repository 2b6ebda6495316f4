import { expect, it } from '@jest/globals';
import type { ObservationReason } from '@slipway/contracts';
import { KeyRing } from '@slipway/platform-config';
import type { Database } from '@slipway/platform-database';
import type { Observation, TargetDriver } from '@slipway/target-driver';
import { EngineKeys } from '../access/engine-keys.js';
import { InstanceKeeper } from './instance-keeper.js';
import type { DeviceAssignments } from '../devices/device-assignments.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import type { InstanceChange, InstanceTransitions } from './instance-transitions.js';
import type { TaskKind } from './pass-plan.js';
import type { Scaler } from '../scaling/scaler.js';
import type { TenantAccess } from '../access/tenant-access.js';

const WORKLOAD = {
  revision_name: 'chat-1',
  spec: { model: { id: 'tiny' }, runtime: { target: 'far', engine: 'sim', args: {}, env: {} }, scaling: {} },
} as unknown as WorkloadRow;

function keeperOf(changes: InstanceChange[]): InstanceKeeper {
  const transitions = {
    change: async (_workload: WorkloadRow, instance: InstanceRow, change: InstanceChange) => {
      changes.push(change);
      return instance;
    },
  };
  return new InstanceKeeper(
    {} as Database,
    transitions as unknown as InstanceTransitions,
    {} as TenantAccess,
    {} as DeviceAssignments,
    new EngineKeys({ keyRing: new KeyRing(Buffer.alloc(32)) }),
    {} as Scaler,
  );
}

/** Returns the changes after a check of an instance, on a target that restarts and probes its servers itself. */
const changesOf = async (row: Partial<InstanceRow>, seen: Observation) => (await look(row, seen)).changes;

async function look(
  row: Partial<InstanceRow>,
  seen: Observation,
  more: Partial<TargetDriver> = {},
  kind: TaskKind = 'look',
  changes: InstanceChange[] = [],
  keeper = keeperOf(changes),
) {
  const driver = { adopts: false, restarts: 'target', probes: 'target', observe: async () => seen, ...more };
  const server = { incarnation: null, place: null, reason: null, ending_url: null, doubted: false };
  const unseen = { ...server, key_id: null, failure: null, progress: null };
  const instance = { id: 'ins_1', generation: 1, restarts: 0, ...unseen, ...row };
  const task = { kind, workload: WORKLOAD, instance: { message: null, ...instance } as InstanceRow };
  const inMs = await keeper.perform({ ...task, inMs: 0 }, driver as unknown as TargetDriver);
  return { changes, inMs };
}

it('the life and the node of a starting server are recorded even if its state and reason do not change', async () => {
  const waiting = { state: 'starting', reason: 'loading' } as const;
  expect(await changesOf(waiting, waiting)).toEqual([]);
  const life = { incarnation: 'pod-1/0', place: 'node-1' };
  expect(await changesOf(waiting, { ...waiting, ...life })).toMatchObject([{ ...waiting, ...life }]);
  expect(await changesOf({ ...waiting, ...life }, { ...waiting, ...life })).toEqual([]);
  expect(await changesOf({ ...waiting, ...life }, { ...waiting, ...life, place: 'node-2' })).toMatchObject([
    { place: 'node-2' },
  ]);
});

it.each<[ObservationReason | undefined, ObservationReason | null, boolean, ObservationReason | null]>([
  ['killed', null, true, 'killed'],
  ['evicted', null, false, 'evicted'],
  // It moved once, and crashed on its new node.
  ['killed', 'evicted', true, 'killed'],
  // Its end was not observed, but its node was known to be lost.
  [undefined, 'node_lost', false, 'node_lost'],
  [undefined, null, true, null],
])('for a server that ended as %s and was last known as %s, isCrash is %s', async (end, known, isCrash, reason) => {
  const [change] = await changesOf(
    { state: 'unhealthy', incarnation: 'one', reason: known },
    { state: 'ready', incarnation: 'two', ...(end && { lastExit: { code: null, reason: end } }) },
  );
  expect(change).toMatchObject({ state: 'starting', incarnation: 'two', isCrash });
  expect(change?.event).toMatchObject({ type: isCrash ? 'instance.crashed' : 'instance.moved', data: { reason } });
});

it('a stopping server is checked again soon, unless its target reports changes', async () => {
  const leaving = [{ state: 'unhealthy' }, { state: 'stopping' }] as const;
  expect(await look(...leaving)).toEqual({ changes: [], inMs: 150 });
  expect(await look(...leaving, { onChange: () => undefined })).toEqual({ changes: [], inMs: 5_000 });
});

it('an instance that waits for capacity is checked again soon, unless its target reports changes: then a pass follows when capacity is freed', async () => {
  const waiting = {
    state: 'pending',
    reason: 'waiting_for_place',
    message: 'waiting for free capacity on target far',
  } as const;
  const none = { state: 'absent' } as const;
  expect(await look(waiting, none, {}, 'queue')).toEqual({ changes: [], inMs: 150 });
  expect(await look(waiting, none, { onChange: () => undefined }, 'queue')).toEqual({ changes: [], inMs: 5_000 });
});

it('the message of the target for a stopping server is shown, if there is one', async () => {
  const seen = async (more: Partial<Observation>) => changesOf({ state: 'ready' }, { state: 'stopping', ...more });
  expect(await seen({})).toMatchObject([{ state: 'unhealthy', message: 'it is being stopped' }]);
  expect(await seen({ message: 'delete it' })).toMatchObject([{ state: 'unhealthy', message: 'delete it' }]);
});

const SERVED = { state: 'ready', base_url: 'http://10.0.0.1:80', ready_age_seconds: 60, incarnation: 'one' } as const;
const SILENT = {
  state: 'unhealthy',
  reason: 'node_lost',
  message: 'node n1 does not respond to its cluster',
  baseUrl: SERVED.base_url,
  incarnation: 'one',
  isSecondHand: true,
} as const;

it.each([
  [true, [{ state: 'ready', reason: 'node_lost', isDoubted: true }], 'but the instance answers'],
  [false, [{ state: 'unhealthy', reason: 'node_lost', isDoubted: true }], 'does not respond to its cluster'],
])(
  'if a lost node is reported, and the answer of its instance is %s, the row becomes %j',
  async (answers, rows, words) => {
    const { changes, inMs } = await look(SERVED, SILENT, { answers: async () => answers });
    expect(changes).toMatchObject(rows);
    expect([changes[0]?.message, inMs]).toEqual([expect.stringContaining(words), 0]);
  },
);

it('a dispute about a node is recorded once, checked every two seconds, and ends with its cause', async () => {
  const message = `${SILENT.message}, but the instance answers, so it keeps its requests`;
  const disputed = { ...SERVED, doubted: true, reason: 'node_lost', message } as const;
  const answers = { answers: async () => true, onChange: () => undefined };
  expect(await look(disputed, SILENT, answers)).toEqual({ changes: [], inMs: 2_000 });
  const { changes } = await look(disputed, { state: 'ready', baseUrl: SERVED.base_url, incarnation: 'one' }, answers);
  expect(changes).toMatchObject([{ state: 'ready', reason: null, message: null, isDoubted: false }]);
});

it.each([
  ['that was not ready before', { ready_age_seconds: null }],
  ['whose address has changed', { base_url: 'http://10.0.0.2:80' }],
])('an instance %s is not asked itself if its node is reported as lost', async (_which, row) => {
  const answers = async () => Promise.reject(new Error('asked'));
  expect((await look({ ...SERVED, ...row }, SILENT, { answers })).changes).toMatchObject([{ state: 'unhealthy' }]);
});

it('the address of a server that is being ended is kept until it has ended, also while its replacement starts', async () => {
  const endingUrl = SERVED.base_url;
  const evicted = { state: 'unhealthy', reason: 'evicted', incarnation: 'one', baseUrl: endingUrl, endingUrl } as const;
  expect(await changesOf(SERVED, evicted)).toMatchObject([{ state: 'unhealthy', endingUrl }]);
  const fresh = { state: 'starting', incarnation: 'two', lastExit: { code: null, reason: 'evicted' } } as const;
  expect(await changesOf(SERVED, { ...fresh, endingUrl })).toMatchObject([{ baseUrl: null, endingUrl }]);
  const starting = { state: 'starting', incarnation: 'two', base_url: null, ending_url: endingUrl } as const;
  expect(await changesOf(starting, { ...fresh, endingUrl })).toEqual([]);
  expect(await changesOf(starting, fresh)).toMatchObject([{ state: 'starting', endingUrl: null }]);
  const replaced = { ...SERVED, base_url: 'http://10.0.0.2:80', incarnation: 'two', ending_url: endingUrl };
  const ready = { state: 'ready', baseUrl: replaced.base_url, incarnation: 'two' } as const;
  expect(await changesOf(replaced, ready)).toMatchObject([{ state: 'ready', endingUrl: null }]);
});

it('a server that was ended before it served any request is not kept', async () => {
  const endingUrl = SERVED.base_url;
  const seen = { state: 'unhealthy', reason: 'evicted', incarnation: 'one', baseUrl: endingUrl, endingUrl } as const;
  const never = { state: 'starting', base_url: endingUrl, ready_age_seconds: null, incarnation: 'one' } as const;
  for (const change of await changesOf(never, seen)) expect(change.endingUrl).toBeNull();
  const [other] = await changesOf({ ...SERVED, base_url: 'http://10.0.0.9:80' }, seen);
  expect(other?.endingUrl).toBeNull();
});

it('servers that give no answer at the same time are reported as a fault of the observer, and not restarted for a minute', async () => {
  const missed = { state: 'unhealthy', reason: 'probe_failed', message: 'no answer', isUnanswered: true } as const;
  const own = { restarts: 'caller', probes: 'target' } as const;
  const changes: InstanceChange[] = [];
  const keeper = keeperOf(changes);
  const changesAt = async (id: string, age: number, seen: Observation) => {
    const row = { ...SERVED, id, state: 'unhealthy', state_age_seconds: age, crash_streak: 0 } as const;
    await look(row, seen, own, 'look', changes, keeper);
    return changes.splice(0).map(({ state, isDoubted }) => ({ state, isDoubted }));
  };
  for (const id of ['ins_1', 'ins_2']) await changesAt(id, 1, missed);
  // Two may fail together.
  expect(await changesAt('ins_2', 30, missed)).toMatchObject([{ state: 'backing_off' }]);
  await changesAt('ins_2', 1, missed);
  expect(await changesAt('ins_3', 30, missed)).toEqual([{ state: 'unhealthy', isDoubted: true }]);
  expect(await changesAt('ins_1', 61, missed)).toMatchObject([{ state: 'backing_off' }]);
});

it('a drift is recorded with an event, and its end without one', async () => {
  const ready = { state: 'ready', baseUrl: SERVED.base_url, incarnation: 'one' } as const;
  const [began] = await changesOf({ ...SERVED, drift: null }, { ...ready, drift: 'spec.replicas, by kubectl-edit' });
  expect(began).toMatchObject({ state: 'ready', drift: 'spec.replicas, by kubectl-edit' });
  expect(began?.event).toMatchObject({ type: 'instance.drifted' });
  const [ended] = await changesOf({ ...SERVED, drift: 'spec.replicas, by kubectl-edit' }, ready);
  expect(ended).toEqual({ state: 'ready', drift: null, event: undefined });
});
