import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TargetBed, type InstancesProcess } from '../../test/target-bed.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { InstanceTransitions } from './instance-transitions.js';
import { addInstances, TargetRows } from './target-rows.js';

let bed: TargetBed;
/** It runs no reconciler, so rows change only if a test changes them. */
let api: InstancesProcess;
let transitions: InstanceTransitions;

beforeEach(async () => {
  bed = await TargetBed.create(2);
  api = await bed.process('api');
  transitions = api.context.get(InstanceTransitions, { strict: false });
  await api.want('rev_1', bed.spec());
  await addInstances(api.database, 'local', [{ workload: await workload(), ordinals: [0] }]);
});
afterEach(() => bed.dispose());

const all = (): Promise<WorkloadRow[]> => new TargetRows(api.database, 'local').all();
const workload = async (): Promise<WorkloadRow> => (await all())[0]!;
const only = async (): Promise<InstanceRow> => (await workload()).instances[0]!;
const retirements = () => api.retirements;

describe('a change', () => {
  it('has no effect if the row has changed since it was read', async () => {
    const [target, read] = [await workload(), await only()];
    expect(await transitions.change(target, read, { state: 'starting' })).toMatchObject({
      state: 'starting',
      version: 2,
    });
    // Another reconciler, which read the same row, saw it crash.
    expect(
      await transitions.change(target, read, { state: 'backing_off', generation: 2, isCrash: true }),
    ).toBeUndefined();
    expect(await only()).toMatchObject({ state: 'starting', generation: 1, restarts: 0, version: 2 });
  });

  it('is published to the gateways if an instance becomes ready, moves, or leaves, in the same transaction', async () => {
    const seen = async () => (await api.published('rev_1'))[0]?.instances.map(({ base_url }) => base_url);
    const change = async (state: InstanceRow['state'], baseUrl?: string | null) => {
      await transitions.change(await workload(), await only(), { state, baseUrl });
      return seen();
    };
    expect(await change('starting')).toBeUndefined();
    expect(await change('ready', 'http://127.0.0.1:1')).toEqual(['http://127.0.0.1:1']);
    expect(await change('ready', 'http://127.0.0.1:2')).toEqual(['http://127.0.0.1:2']);
    expect(await change('unhealthy')).toEqual([]);
    expect(await change('ready')).toEqual(['http://127.0.0.1:2']);
    expect(await change('stopping')).toEqual([]);
  });

  it('to a failed start is kept for the deployment until a start of the revision is ready, also through a new attempt', async () => {
    const failure = {
      cause: 'exited' as const,
      remediation: 'Correct the file.',
      exit_code: 7,
      signal: null,
      line: 'the model is broken',
      log_tail: ['loading', 'the model is broken'],
      message: 'it ended with code 7',
    };
    const last = () =>
      api.database.tx('system', async (tx) => (await api.instances.lastFailedStarts(tx, ['dep_1'])).get('dep_1'));
    expect(await last()).toBeUndefined();
    await transitions.change(await workload(), await only(), { state: 'backing_off', failure, failedStarts: 1 });
    const shown = {
      revision: 'chat-1',
      instanceId: (await only()).id,
      at: expect.stringMatching(/^20\d\d-.*Z$/),
      failure: { cause: 'exited', exit_code: 7, message: 'it ended with code 7: the model is broken' },
    };
    expect(await last()).toMatchObject(shown);
    await api.want('rev_1', bed.spec(), 'operation:op_2');
    await transitions.change(await workload(), await only(), { state: 'starting' });
    expect((await only()).failure).toBeNull();
    expect(await last()).toMatchObject(shown);
    await transitions.change(await workload(), await only(), { state: 'ready', failure: null });
    expect(await last()).toBeUndefined();
  });

  it('counts a crash of an instance that was ready, and a failed start only as a restart', async () => {
    const counts = async () => {
      const { restarts, crashes } = (await api.status('rev_1'))!;
      return { restarts, crashes };
    };
    const change = async (state: InstanceRow['state'], isCrash = false) => {
      await transitions.change(await workload(), await only(), { state, isCrash });
      return counts();
    };
    await change('starting');
    expect(await change('backing_off', true)).toEqual({ restarts: 1, crashes: 0 });
    await change('starting');
    await change('ready');
    await change('unhealthy');
    expect(await change('backing_off', true)).toEqual({ restarts: 2, crashes: 1 });
    await change('starting');
    expect(await change('backing_off', true)).toEqual({ restarts: 3, crashes: 1 });
  });

  it('publishes the loss of a node to the gateways, until the instance has another state', async () => {
    const seen = async () => (await api.published('rev_1'))[0]?.instances.map(({ state }) => state);
    const change = async (
      state: InstanceRow['state'],
      reason: InstanceRow['reason'],
      baseUrl?: string | null,
      more: { isDoubted?: boolean; endingUrl?: string | null } = {},
    ) => {
      await transitions.change(await workload(), await only(), { state, reason, baseUrl, ...more });
      return seen();
    };
    expect(await change('ready', null, 'http://127.0.0.1:1')).toEqual(['ready']);
    expect(await change('unhealthy', 'node_lost')).toEqual(['lost']);
    expect(await change('unhealthy', 'probe_failed', undefined, { isDoubted: true })).toEqual(['unhealthy']);
    expect(await change('unhealthy', 'probe_failed', undefined, { isDoubted: false })).toEqual([]);
    expect(await change('unhealthy', 'request_refused')).toEqual([]);
    expect(await change('unhealthy', 'node_lost')).toEqual(['lost']);
    expect(await change('unhealthy', 'node_lost', undefined, { isDoubted: true })).toEqual(['doubted']);
    expect(await change('ready', 'node_lost')).toEqual(['ready']);
    expect(await change('ready', null, undefined, { isDoubted: false })).toEqual(['ready']);
    const endingUrl = 'http://127.0.0.1:1';
    expect(await change('unhealthy', 'evicted', undefined, { endingUrl })).toEqual(['ending']);
    expect(await change('starting', null, null)).toEqual(['ending']);
    expect(await change('ready', null, 'http://127.0.0.1:2')).toEqual(['ready', 'ending']);
    expect(await change('ready', null, undefined, { endingUrl: null })).toEqual(['ready']);
    expect(await change('unhealthy', 'evicted', undefined, { endingUrl: 'http://127.0.0.1:2' })).toEqual(['ending']);
    expect(await change('stopping', null)).toEqual([]);
    expect(await change('starting', null, null)).toEqual([]);
    // It was never ready in this life.
    expect(await change('unhealthy', 'probe_failed', endingUrl, { isDoubted: true })).toEqual([]);
  });

  it('to stopping has no effect if the workload is retained by then', async () => {
    await api.release('rev_1');
    const [target, read] = [await workload(), await only()];
    await api.retain('rev_1', 'route');
    expect(await transitions.change(target, read, { state: 'stopping', onlyIfReleased: true })).toBeUndefined();
    expect((await only()).state).toBe('pending');
    await api.release('rev_1', 'route');
    expect(await transitions.change(target, read, { state: 'stopping', onlyIfReleased: true })).toBeDefined();
  });

  it('keeps the time of an unchanged state, and wakes no operation if it is silent', async () => {
    const since = async () => {
      const rows = await api.database.read<{ since: Date; changed: Date }>(
        'system',
        'select state_since as since, changed_at as changed from instances join workloads using (revision_id)',
      );
      return rows[0]!;
    };
    await transitions.change(await workload(), await only(), { state: 'starting' });
    const before = await since();
    await transitions.change(await workload(), await only(), { state: 'starting', message: 'it loads' });
    expect(await since()).toEqual(before);
    await transitions.change(await workload(), await only(), { state: 'stopped', isSilent: true });
    const silent = await since();
    expect([silent.since > before.since, silent.changed]).toEqual([true, before.changed]);
    await transitions.change(await workload(), await only(), { state: 'stopped' });
    expect((await since()).changed > before.changed).toBe(true);
  });
});

describe('a workload', () => {
  const stop = async () => void (await transitions.change(await workload(), await only(), { state: 'stopped' }));

  it('retires once, when it is released and no instance runs, and is withdrawn from the gateways with that', async () => {
    await transitions.change(await workload(), await only(), { state: 'ready', baseUrl: 'http://127.0.0.1:1' });
    await api.release('rev_1');
    const target = await workload();
    expect([await transitions.retire(target), retirements()]).toEqual([false, []]);
    await stop();
    expect(await api.published('rev_1')).toHaveLength(1);
    expect([await transitions.retire(target), await transitions.retire(target)]).toEqual([true, false]);
    expect(retirements()).toEqual(['rev_1']);
    expect(await api.published('rev_1')).toEqual([]);
  });

  it('does not retire if it is retained by then', async () => {
    await api.release('rev_1');
    const target = await workload();
    await stop();
    await api.retain('rev_1', 'route');
    expect([await transitions.retire(target), retirements()]).toEqual([false, []]);
  });
});

it('the missing rows of many workloads are added in one transaction, and existing ones stay unchanged', async () => {
  await api.want('rev_2', bed.spec());
  const ordinals = async () =>
    (await all()).map(({ revision_id, instances }) => [revision_id, ...instances.map(({ ordinal }) => ordinal)]);
  const kept = await only();
  const lacking = (await all()).map((one) => ({ workload: one, ordinals: [0, 1] }));
  const written = jest.spyOn(api.database, 'tx');
  await addInstances(api.database, 'local', lacking);
  expect(written).toHaveBeenCalledTimes(1);
  expect(await ordinals()).toEqual([
    ['rev_1', 0, 1],
    ['rev_2', 0, 1],
  ]);
  expect(await only()).toMatchObject({ id: kept.id, version: kept.version });
});
