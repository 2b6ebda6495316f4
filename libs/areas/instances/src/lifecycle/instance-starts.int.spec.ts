import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { instanceKey } from '@slipway/dataplane';
import { TargetBed, until } from '../../test/target-bed.js';

let bed: TargetBed;

beforeEach(async () => {
  bed = await TargetBed.create(4, { withTwin: true });
});
afterEach(() => bed.dispose());

describe('a failed start', () => {
  it('is recorded with its cause and counted, until another operation wants the revision', async () => {
    const worker = await bed.process('worker');
    await worker.want('rev_1', bed.spec({ exit_code: 3 }));
    const failedTimes = async () => (await worker.status('rev_1'))?.failedStarts ?? 0;
    await until('three failed starts', async () => (await failedTimes()) >= 3);
    expect((await worker.status('rev_1'))?.failure).toMatchObject({ exit_code: 3 });
    await worker.close();
    // No worker writes any more. The same retainer continues with the count; a new one begins again.
    const api = await bed.process('api');
    await api.want('rev_1', bed.spec({ exit_code: 3 }));
    expect((await api.status('rev_1'))?.failedStarts).toBeGreaterThanOrEqual(3);
    await api.want('rev_1', bed.spec({ exit_code: 3 }), 'operation:op_2');
    expect(await api.status('rev_1')).toMatchObject({ failure: null, failedStarts: null });
  });

  it('is cleared once an instance is ready', async () => {
    const worker = await bed.process('worker');
    await worker.want('rev_1', bed.twinSpec());
    await until('a first life', async () => (await worker.rows('rev_1'))[0]?.incarnation != null);
    await bed.cluster.crash((await worker.rows('rev_1'))[0]?.incarnation as string);
    await until('a failed start', async () => (await worker.status('rev_1'))?.failedStarts === 1);
    bed.cluster.setHealthy(true);
    await worker.ready('rev_1');
    const [row] = await worker.database.read<object>('system', 'select failure, failed_starts from instances');
    expect(row).toEqual({ failure: null, failed_starts: 0 });
  });
});

describe('an engine that refuses requests without a key', () => {
  beforeEach(() => {
    bed.cluster.isKeyed = true;
    bed.cluster.setHealthy(true);
  });

  it('gets the key of its generation, and gateways learn how to derive it', async () => {
    const worker = await bed.process('worker');
    await worker.want('rev_1', bed.twinSpec());
    const [instance] = await worker.ready('rev_1');
    const { current } = bed.config.keyRing;
    const [published] = await worker.published('rev_1');
    expect(published?.instances).toMatchObject([{ id: instance?.id, key: { id: current.id, generation: 1 } }]);
    const given = bed.cluster.members.get(instance?.id ?? '')?.[0]?.spec.instanceKey;
    expect(given).toBe(
      instanceKey(bed.config.keyRing, { instanceId: instance?.id ?? '', generation: 1, keyId: current.id }),
    );
  });

  it('keeps its key while the key ring changes, and is restarted with another once its own has left the ring', async () => {
    const worker = await bed.process('worker');
    await worker.want('rev_1', bed.twinSpec());
    const [{ id } = { id: '' }] = await worker.ready('rev_1');
    await worker.close();
    const [before, next] = [Buffer.alloc(32), Buffer.alloc(32, 1)];
    const generations = () => bed.cluster.members.get(id)?.map(({ spec }) => spec.generation);
    const turned = await bed.process('worker', { keyRing: new KeyRing(next, [before]) });
    await until('a look', async () => (await turned.ready('rev_1'))[0]?.generation === 1);
    expect(generations()).toEqual([1]);
    await turned.close();
    const left = await bed.process('worker', { keyRing: new KeyRing(next) });
    await until('the next generation', async () => (await left.rows('rev_1'))[0]?.generation === 2);
    await left.ready('rev_1');
    expect(generations()).toEqual([1, 2]);
    expect((await left.published('rev_1'))[0]?.instances).toMatchObject([
      { key: { id: new KeyRing(next).current.id, generation: 2 } },
    ]);
    expect((await left.rows('rev_1'))[0]?.restarts).toBe(0);
  });
});
