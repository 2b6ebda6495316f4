import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TwinDriver } from '@slipway/target-driver/twin';
import { TargetBed, until, type InstanceState, type InstancesProcess } from '../../test/target-bed.js';

/** An unrequested check comes after an hour, so every earlier observation follows a report of the target. */
const RARELY = { interval_seconds: 3_600, timeout_seconds: 10, failure_threshold: 1 };

let bed: TargetBed;
let worker: InstancesProcess;

beforeEach(async () => {
  bed = await TargetBed.create(4, { withTwin: true });
  worker = await bed.process('worker');
});
afterEach(() => bed.dispose());

const spec = () => bed.twinSpec({ probes: RARELY });
const only = async (): Promise<InstanceState> => (await worker.rows('rev_1'))[0]!;
const published = async () => (await worker.published('rev_1'))[0]?.instances.map(({ base_url }) => base_url);
const events = async () => (await worker.events()).map(({ type }) => type);

/** Returns an instance that is ready, on node-1. */
async function ready(): Promise<InstanceState & { incarnation: string }> {
  bed.cluster.setHealthy(true);
  await worker.want('rev_1', spec());
  await worker.ready('rev_1');
  return (await only()) as InstanceState & { incarnation: string };
}

/** Waits until it is ready in another life than before. */
async function readyAfter(before: { incarnation: string }): Promise<InstanceState> {
  const isNew = ({ state, incarnation }: InstanceState) => state === 'ready' && incarnation !== before.incarnation;
  await until('its next life to be ready', async () => isNew(await only()), only);
  return only();
}

it('an instance runs and stops on a target that restarts and probes its servers itself', async () => {
  const started = await ready();
  expect(started).toMatchObject({ generation: 1, incarnation: '1', place: 'node-1', reason: null });
  expect(await published()).toEqual([started.base_url]);
  expect(await worker.instances.probe('rev_1')).toEqual({ answered: 1, asked: 1 });
  await worker.release('rev_1');
  await worker.retired('rev_1');
  expect(await only()).toMatchObject({ state: 'stopped', incarnation: null, place: null });
  expect(bed.cluster.started).toEqual([started.id]);
  expect(await events()).toEqual(['instance.ready']);
});

it('a target receives the owner of an instance and the resources that it needs', async () => {
  bed.cluster.setHealthy(true);
  const resources = { accelerator: 'h100', count: 2 };
  await worker.want('rev_1', bed.twinSpec({ scaling: { min_replicas: 2 }, resources }));
  await worker.ready('rev_1', 2);
  const asked = [...bed.cluster.members.values()].map(([member]) => member!.spec);
  const owner = { tenantId: 'ten_a', deploymentId: 'dep_1', revisionId: 'rev_1', revisionName: 'chat-1' };
  expect(asked.sort((one, other) => one.owner!.ordinal - other.owner!.ordinal)).toMatchObject([
    { owner: { ...owner, ordinal: 0 }, resources },
    { owner: { ...owner, ordinal: 1 }, resources },
  ]);
});

it('a restart by the target counts as a crash of the same generation, and the new address is published', async () => {
  const before = await ready();
  await bed.cluster.crash(before.incarnation);
  const after = await readyAfter(before);
  expect(after).toMatchObject({ id: before.id, generation: 1, restarts: 1, place: 'node-1', back_off: null });
  expect(after.base_url).not.toBe(before.base_url);
  expect(await published()).toEqual([after.base_url]);
  expect(bed.cluster.started).toEqual([before.id, before.id]);
  // The state between its lives may or may not be observed.
  const told = (await worker.events()).filter(({ type }) => type !== 'instance.unhealthy');
  expect(told.map(({ type }) => type)).toEqual(['instance.ready', 'instance.crashed', 'instance.ready']);
  expect(told[1]?.data).toMatchObject({
    generation: 1,
    reason: 'killed',
    exit_code: null,
    restarts: 1,
    restarts_in_seconds: null,
  });
});

it('a move to another node is not counted as a crash', async () => {
  const before = await ready();
  await bed.cluster.move(before.incarnation, 'node-2');
  const after = await readyAfter(before);
  expect(after).toMatchObject({ id: before.id, generation: 1, restarts: 0, place: 'node-2' });
  expect(await published()).toEqual([after.base_url]);
  expect(after.base_url).not.toBe(before.base_url);
  const told = (await worker.events()).filter(({ type }) => type !== 'instance.unhealthy');
  expect(told.map(({ type }) => type)).toEqual(['instance.ready', 'instance.moved', 'instance.ready']);
  expect(told[1]?.data).toMatchObject({ generation: 1, reason: 'evicted', from: 'node-1', place: 'node-2' });

  // An instance that moved once can still crash.
  await bed.cluster.crash(after.incarnation!);
  expect(await readyAfter({ incarnation: after.incarnation! })).toMatchObject({ restarts: 1, place: 'node-2' });
});

it.each([
  ['crash', 'killed', 1, 'instance.crashed'],
  ['move', 'evicted', 0, 'instance.moved'],
] as const)(
  'an instance is withdrawn between two lives, however long, and a %s is recognized by its end',
  async (_what, reason, restarts, event) => {
    const before = await ready();
    const startAgain = await bed.cluster.down(before.incarnation, reason, 'node-2');
    await until('it to leave the gateways', async () => (await published())?.length === 0, only);
    expect(await only()).toMatchObject({
      state: 'unhealthy',
      restarts: 0,
      incarnation: before.incarnation,
      place: 'node-1',
      reason,
    });
    expect(await worker.status('rev_1')).toMatchObject({ desired: 1, ready: 0, alive: 1 });
    await startAgain();
    expect(await readyAfter(before)).toMatchObject({ generation: 1, restarts, place: 'node-2' });
    expect(await events()).toEqual(['instance.ready', 'instance.unhealthy', event, 'instance.ready']);
    expect((await worker.events())[2]?.data).toMatchObject({ reason, place: 'node-2' });
  },
);

it('crashes of an instance that has never been ready are counted, and reported once if they are alike', async () => {
  await worker.want('rev_1', spec());
  for (const life of ['1', '2']) {
    await until(`life ${life} to be seen`, async () => (await only())?.incarnation === life, only);
    expect(await only()).toMatchObject({ state: 'starting', restarts: Number(life) - 1, generation: 1 });
    await bed.cluster.crash(life);
  }
  await until('both crashes to be counted', async () => (await only()).restarts === 2, only);
  expect((await worker.events()).map(({ type, data }) => [type, data['cause']])).toEqual([
    ['instance.crashed', 'killed'],
  ]);
  expect(await worker.published('rev_1')).toEqual([]);
  bed.cluster.setHealthy(true);
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 2, incarnation: '3' }]);
});

it('the first report of a target that probes is accepted, and the restart is left to the target', async () => {
  const before = await ready();
  bed.cluster.setHealthy(false);
  await until('it to be unhealthy', async () => (await only()).state === 'unhealthy', only);
  expect(await published()).toEqual([]);
  expect(await only()).toMatchObject({ reason: 'probe_failed', incarnation: before.incarnation });

  // It has been unhealthy for longer than Slipway would tolerate for its own instance.
  await worker.database.tx('system', (tx) =>
    tx.query(`update instances set state_since = now() - interval '1 day' where id = $1`, [before.id]),
  );
  const looks = jest.spyOn(TwinDriver.prototype, 'observe');
  try {
    // The first check may have begun with the old row. Only the next check shows that the first one has ended.
    for (const count of [1, 2, 3]) {
      bed.cluster.setHealthy(false);
      await until(`look ${count}`, async () => looks.mock.calls.length >= count);
    }
  } finally {
    looks.mockRestore();
  }
  expect(await only()).toMatchObject({ state: 'unhealthy', generation: 1, restarts: 0 });
  bed.cluster.setHealthy(true);
  expect(await worker.ready('rev_1')).toMatchObject([{ incarnation: before.incarnation, restarts: 0 }]);
  expect(bed.cluster.started).toHaveLength(1);
});

it.each([
  ['stopped', 'it was stopped on its target, but not by Slipway'],
  ['deleted', 'it no longer exists on its target'],
])(
  'an instance that another client of the target %s starts again after a pause, without a crash',
  async (how, message) => {
    const before = await ready();
    if (how === 'deleted') await bed.cluster.remove(before.id);
    else {
      const other = new TwinDriver('twin', bed.cluster);
      await other.terminate(before.id);
      await other.close();
    }
    expect(await readyAfter(before)).toMatchObject({ id: before.id, generation: 2, restarts: 0 });
    expect(await events()).not.toContain('instance.crashed');
    const move = (await worker.events()).find(({ type }) => type === 'instance.moved');
    expect(move?.data).toMatchObject({ reason: 'deleted', message, generation: 1 });
  },
);

it('a crash that happened while no worker ran is counted', async () => {
  const before = await ready();
  await worker.close('SIGTERM');
  await bed.cluster.crash(before.incarnation);
  worker = await bed.process('worker');
  expect(await readyAfter(before)).toMatchObject({ generation: 1, restarts: 1 });
});

it('no miss is tolerated after a takeover if the target counts the misses', async () => {
  bed.cluster.setHealthy(true);
  await worker.want('rev_1', bed.twinSpec({ probes: { ...RARELY, failure_threshold: 100 } }));
  await worker.ready('rev_1');
  await worker.close('SIGTERM');
  bed.cluster.setHealthy(false);
  worker = await bed.process('worker');
  await until('it to be unhealthy', async () => (await only()).state === 'unhealthy', only);
  expect(await published()).toEqual([]);
});

it('a shutdown of the stack stops the engines of the host, and not those that outlive it', async () => {
  const before = await ready();
  await worker.want('rev_2', bed.spec());
  await worker.ready('rev_2');
  await worker.close('slipway:stop-engines');
  worker = await bed.process('api');
  expect(await worker.rows('rev_2')).toMatchObject([{ state: 'pending', generation: 2, incarnation: null }]);
  expect(await only()).toEqual(before);
  expect(await published()).toEqual([before.base_url]);
  expect((await fetch(`${before.base_url}/health`)).status).toBe(200);
});

it('an instance stays unchanged while its target does not answer, and continues afterwards', async () => {
  const before = await ready();
  const shown = await published();
  const looks = jest.spyOn(TwinDriver.prototype, 'observe');
  // The target reports a change and is away before the check that follows. A check that fails is repeated soon, if the
  // worker is woken.
  bed.cluster.setHealthy(true);
  bed.cluster.outage = 'connection refused';
  await until(
    'three looks that failed',
    async () => {
      await worker.retain('rev_1', 'route');
      return looks.mock.calls.length >= 3;
    },
    only,
  );
  looks.mockRestore();
  expect(await only()).toEqual(before);
  expect(await published()).toEqual(shown);
  expect(await events()).toEqual(['instance.ready']);
  bed.cluster.outage = undefined;
  await bed.cluster.crash(before.incarnation);
  expect(await readyAfter(before)).toMatchObject({ restarts: 1, generation: 1 });
});

it('a start waits for an unavailable target, and this does not count as a failure', async () => {
  bed.cluster.setHealthy(true);
  bed.cluster.outage = 'cannot create deployments in namespace models-acme';
  await worker.want('rev_1', spec());
  await until('it to wait', async () => (await only())?.reason === 'target_unavailable', only);
  expect(await only()).toMatchObject({ state: 'starting', generation: 1, restarts: 0, back_off: null });
  // Only the operator may see what the target lacks.
  expect(await worker.status('rev_1')).toMatchObject({
    message: 'waiting for its target, which is not available',
    reason: 'target_unavailable',
    failure: null,
  });
  bed.cluster.outage = undefined;
  expect(await worker.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 0, reason: null, message: null }]);
  expect(bed.cluster.started).toHaveLength(1);
});

it.each(['quota_exceeded', 'admission_denied'] as const)(
  'a start that its target refuses as %s waits with the words of the target, and this does not count as a failure',
  async (reason) => {
    bed.cluster.setHealthy(true);
    bed.cluster.refusal = { reason, message: 'exceeded quota: objects' };
    await worker.want('rev_1', spec());
    await until('it to wait', async () => (await only())?.reason === reason, only);
    const tries = jest.spyOn(TwinDriver.prototype, 'provision');
    await until('more tries', async () => tries.mock.calls.length > 2);
    tries.mockRestore();
    expect(await only()).toMatchObject({ state: 'starting', generation: 1, restarts: 0, back_off: null });
    expect(await worker.status('rev_1')).toMatchObject({ message: 'exceeded quota: objects', reason, failure: null });
    bed.cluster.refusal = undefined;
    expect(await worker.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 0, reason: null, message: null }]);
  },
);

it('what a target reports about a ready instance is shown until it ends, and is no event', async () => {
  await ready();
  bed.cluster.remark = 'PodDisruptionBudget slw-chat-1 cannot be created';
  bed.cluster.setHealthy(true);
  await until('it to be shown', async () => (await only()).message === bed.cluster.remark, only);
  expect(await published()).toHaveLength(1);
  bed.cluster.remark = undefined;
  bed.cluster.setHealthy(true);
  await until('its end', async () => (await only()).message === null, only);
  expect(await events()).toEqual(['instance.ready']);
});

it('a released instance is stopped as soon as its target answers again', async () => {
  const before = await ready();
  bed.cluster.outage = 'connection refused';
  await worker.release('rev_1');
  await until('it to leave the gateways', async () => (await published())?.length === 0, only);
  expect((await fetch(`${before.base_url}/health`)).status).toBe(200);
  bed.cluster.outage = undefined;
  await worker.retired('rev_1');
  await expect(fetch(`${before.base_url}/health`)).rejects.toThrow('fetch failed');
});

it('the last lines of an instance that was never ready are shown without its secrets', async () => {
  await worker.want('rev_1', { ...spec(), runtime: { ...spec().runtime, env: { API_KEY: { secret_ref: 'key' } } } });
  await until('life 1 to be seen', async () => (await only())?.incarnation === '1', only);
  const { id } = await only();
  bed.cluster.write(id, { stream: 'stderr', text: 'no kernel for this device; key is sk-from-file' });
  await bed.cluster.crash('1');
  await until('the crash to be counted', async () => (await only()).restarts === 1, only);
  expect((await worker.status('rev_1'))?.failure).toMatchObject({
    cause: 'killed',
    log_tail: ['no kernel for this device; key is [redacted]'],
  });
});

it('a change from outside Slipway is reported once, and the instance continues to serve', async () => {
  const before = await ready();
  const drift = 'deployment slw-chat-1 was changed outside Slipway: it has 3 replicas';
  bed.cluster.change(before.id, drift);
  await until('it to be told', async () => (await events()).includes('instance.drifted'), only);
  // Checked again, also by another worker.
  bed.cluster.setHealthy(true);
  await worker.close('SIGTERM');
  worker = await bed.process('worker');
  await bed.cluster.crash(before.incarnation);
  const after = await readyAfter(before);
  expect(after).toMatchObject({ generation: 1, restarts: 1, drift });
  const told = (await worker.events()).filter(({ type }) => type === 'instance.drifted');
  expect(told.map(({ data }) => data)).toMatchObject([{ message: drift, generation: 1 }]);

  // The objects of its replacement are created again.
  const somebody = new TwinDriver('twin', bed.cluster);
  await somebody.terminate(before.id);
  await somebody.close();
  expect(await readyAfter({ incarnation: after.incarnation! })).toMatchObject({ generation: 2, drift: null });
});
