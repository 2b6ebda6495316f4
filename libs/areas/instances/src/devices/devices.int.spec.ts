import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ProcessDriver, type ProcessTargetConfig } from '@slipway/target-process';
import { addOperation, TargetBed, until } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

jest.setTimeout(90_000);

describe('declared devices', () => {
  const TWO = [
    { index: 0, memory_mb: 10_000 },
    { index: 1, memory_mb: 10_000 },
  ];

  let bed: TargetBed;
  afterEach(() => bed.dispose());

  async function bedWith(devices: ProcessTargetConfig['devices']): Promise<void> {
    bed = await TargetBed.create(8, { devices });
  }

  it('are given to one instance at a time, and to the next one when that has ended; two are given together or not at all', async () => {
    await bedWith(TWO);
    const host = await bed.deviceHost();
    // Without a number in the spec, the engine's own minimum counts.
    expect(host.instances.devices(bed.gpuSpec('one', 'gpu'))).toEqual({ accelerator: null, count: 1 });
    expect(host.instances.devices(bed.gpuSpec('one', 'gpu', { count: 2 })).count).toBe(2);
    for (const model of ['one', 'both', 'last']) await bed.makeReady(model);
    await host.want('rev_1', bed.gpuSpec('one', 'gpu'));
    await host.ready('rev_1');
    await host.want('rev_2', bed.gpuSpec('both', 'gpu', { count: 2 }));
    await host.waitsForDevice(
      'rev_2',
      '2 devices of one kind of target local: device 0 is used by chat-1; device 1 is free',
    );
    // The free device is assigned to an instance that needs only one.
    await host.want('rev_3', bed.gpuSpec('last', 'gpu'));
    await host.ready('rev_3');
    expect([await bed.devicesOf('one'), await bed.devicesOf('last')]).toEqual([['0'], ['1']]);
    await host.release('rev_1');
    await host.retired('rev_1');
    expect((await host.status('rev_2'))?.ready).toBe(0);
    await host.release('rev_3');
    await host.ready('rev_2');
    expect(await bed.devicesOf('both')).toEqual(['0,1']);
  });

  it('hold as many parts as fit, with one start at a time', async () => {
    await bedWith([{ index: 0, memory_mb: 10_000 }]);
    const host = await bed.deviceHost();
    await host.want('rev_1', bed.gpuSpec('first', 'part', { memory_mb: 5_000 }));
    await host.want('rev_2', bed.gpuSpec('second', 'part', { memory_mb: 4_000 }));
    await host.waitsForDevice('rev_2', 'has another instance starting on it');
    expect(await bed.devicesOf('second')).toEqual([]);
    // An instance occupies a device from its start; one that waits for a device occupies none.
    const serving = () => host.database.tx('system', (tx) => host.instances.serving(tx, ['rev_1', 'rev_2', 'rev_9']));
    // The device is assigned before the process runs.
    await until('the first start', async () => (await serving()).get('rev_1')?.running === 1);
    expect(Object.fromEntries(await serving())).toEqual({
      rev_1: { desired: 1, ready: 0, running: 1, isAsleep: false },
      rev_2: { desired: 1, ready: 0, running: 0, isAsleep: false },
    });
    await bed.makeReady('first');
    await until('the second start', async () => (await bed.devicesOf('second')).length === 1);
    await bed.makeReady('second');
    await host.ready('rev_2');
    await host.want('rev_3', bed.gpuSpec('third', 'part', { memory_mb: 1_000 }));
    await host.waitsForDevice('rev_3', 'has 488 MiB left');
    // An instance cannot get the entire device either.
    await host.want('rev_4', bed.gpuSpec('whole', 'gpu'));
    await host.waitsForDevice('rev_4', 'is used by chat-1, chat-2');

    const seenBy = async (tenantId: string, isOperatorTenant: boolean) => {
      const viewer = { tenantId, tenantName: 'acme', isOperatorTenant };
      const { data } = await host.context.get(TargetsService).list(viewer, { limit: 50 });
      return data.find(({ name }) => name === 'local');
    };
    const device = { index: 0, uuid: 'local/0', name: 'device', memory_mb: 10_000, used_mb: null, foreign_mb: 0 };
    const held = [
      { revision: 'chat-1', memory_mb: 5_000, ending: false },
      { revision: 'chat-2', memory_mb: 4_000, ending: false },
    ];
    expect(await seenBy('ten_a', true)).toMatchObject({
      devices: [{ ...device, problem: null, holders: held }],
      conditions: [],
    });
    expect(await seenBy('ten_b', false)).toMatchObject({
      devices: [{ ...device, holders: held.map((holder) => ({ ...holder, revision: null })) }],
    });
  });

  it('cause a refusal at once if a spec needs more than the target has, but not before the first check', async () => {
    await bedWith(TWO);
    const api = await bed.process('api');
    const of = async (...about: Parameters<TargetBed['gpuSpec']>) =>
      (await api.check(bed.gpuSpec(...about))).map(({ field, code, message }) => `${field} ${code} ${message}`);
    const large = { memory_mb: 20_000 };
    expect(await of('m', 'part', large)).toEqual([]);
    const host = await bed.deviceHost();
    await until('the devices to be known', async () => (await of('m', 'part', large)).length > 0);
    expect(await of('m', 'part', large)).toEqual([
      'resources.memory_mb not_allowed target "local" has 0 suitable devices with 20000 MiB each, but 1 are requested',
    ]);
    expect(await of('m', 'part')).toEqual([
      'resources.memory_mb required engine "part" shares devices: set the number of MiB that it uses of each',
    ]);
    const three = { ...bed.gpuSpec('m', 'gpu', { count: 2 }), scaling: { min_replicas: 2 } };
    expect(await api.check(three)).toMatchObject([{ field: 'resources.count', code: 'not_allowed' }]);
    const forecast = (deploymentId: string, count: number) =>
      api.database.tx({ tenantId: 'ten_b' }, (tx) =>
        api.instances.forecastCapacity(tx, {
          tenantId: 'ten_b',
          deploymentId,
          spec: bed.gpuSpec('m', 'gpu', { count }),
        }),
      );
    expect(await forecast('dep_2', 2)).toEqual({
      target: 'local',
      resource: 'device',
      replicas: 1,
      needed: 2,
      total: 2,
      free: 2,
      own: 0,
      wanted: 0,
    });
    await bed.makeReady('m');
    await host.want('rev_1', bed.gpuSpec('m', 'gpu'));
    await host.ready('rev_1');
    expect(await forecast('dep_2', 2)).toMatchObject({ free: 1, own: 0 });
    expect(await forecast('dep_1', 2)).toMatchObject({ free: 1, own: 1 });

    // A revision that takes over from three instances begins with as many instances as there are devices for. If the
    // others are stopped first, their devices count.
    await api.database.read('system', `update workloads set replicas = 3 where revision_id = 'rev_1' returning 1`);
    const scaling = { min_replicas: 1, max_replicas: 4, target_in_flight: 2 };
    const next = (areStopped: boolean) =>
      api.database.tx({ tenantId: 'ten_a' }, (tx) =>
        api.instances.forecastCapacity(tx, {
          tenantId: 'ten_a',
          deploymentId: 'dep_1',
          spec: { ...bed.gpuSpec('m', 'gpu'), scaling },
          takesOver: { revisionIds: ['rev_1'], areStopped },
        }),
      );
    expect(await next(false)).toMatchObject({ replicas: 1, needed: 1 });
    expect(await next(true)).toMatchObject({ replicas: 2, needed: 2 });
  });

  it('stay with the operation that suspended their workload, and warm ones are released for a waiting instance', async () => {
    await bedWith([{ index: 0, memory_mb: 10_000 }]);
    const host = await bed.deviceHost();
    for (const model of ['old', 'new', 'other']) await bed.makeReady(model);
    const owner = await bed.owner();
    await addOperation(owner, 'op_2');
    await owner.end();
    await host.want('rev_1', bed.gpuSpec('old', 'gpu'));
    await host.ready('rev_1');
    await host.want('rev_other', bed.gpuSpec('other', 'gpu'), 'operation:op_3');
    await host.waitsForDevice('rev_other', 'is used by chat-1');
    await host.database.tx('system', (tx) => host.instances.suspend(tx, 'rev_1', 'op_2'));
    await until('rev_1 to be gone', async () => (await host.status('rev_1'))?.alive === 0);
    await host.want('rev_2', bed.gpuSpec('new', 'gpu'), 'operation:op_2');
    await host.ready('rev_2');
    expect(await bed.devicesOf('other')).toEqual([]);
    await host.release('rev_1');
    await host.retain('rev_2', 'warm', 3_600);
    await host.release('rev_2', 'operation:op_2');
    await host.ready('rev_other');
    expect(await host.status('rev_2')).toMatchObject({ desired: 0 });
  });

  it('stay with the engine of a killed worker: its successor starts no second engine on them', async () => {
    await bedWith([{ index: 0, memory_mb: 10_000 }]);
    const api = await bed.process('api');
    const child = await bed.child();
    await bed.makeReady('second');
    await api.want('rev_1', bed.gpuSpec('first', 'gpu'));
    await until('the first start', async () => (await bed.devicesOf('first')).length === 1);
    child.kill('SIGKILL');
    const host = await bed.deviceHost();
    await host.want('rev_2', bed.gpuSpec('second', 'gpu'));
    await host.waitsForDevice('rev_2', 'is used by chat-1');
    await bed.makeReady('first');
    expect(await host.ready('rev_1')).toMatchObject([{ generation: 1, restarts: 0 }]);
    expect([await bed.devicesOf('first'), await bed.devicesOf('second')]).toEqual([['0'], []]);
  });
});

describe('devices that nvidia-smi reports', () => {
  let bed: TargetBed;

  beforeEach(async () => {
    bed = await TargetBed.create(8, { devices: 'auto', timings: { quietDeviceCheckMs: 500 } });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await bed.dispose();
  });

  async function nvidiaSmi(script: string): Promise<void> {
    await mkdir(join(bed.home, 'bin'), { recursive: true });
    const file = join(bed.home, 'bin', 'nvidia-smi');
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }

  /** One card with this much memory in use. The tool never reads a partial file. */
  async function oneCard(usedMb: number): Promise<void> {
    const file = join(bed.home, 'gpus.csv');
    await writeFile(`${file}.next`, `0, GPU-1, NVIDIA L4, 23034, ${usedMb}\n`);
    await rename(`${file}.next`, file);
  }

  async function oneCardHost(usedMb: number): Promise<void> {
    await oneCard(usedMb);
    await nvidiaSmi(`case "$1" in --query-gpu*) cat ${join(bed.home, 'gpus.csv')};; esac`);
  }

  it('are given to the next instance only when their memory is free, and are unusable if that takes too long', async () => {
    await oneCardHost(10);
    const host = await bed.deviceHost();
    for (const model of ['first', 'second']) await bed.makeReady(model);
    const peak = () => host.database.read<{ peak_mb: number }>('system', 'select peak_mb from device_claims');
    const shorten = `update device_claims set free_within_seconds = 1 where ended_at is not null`;
    await host.want('rev_1', bed.gpuSpec('first', 'gpu'));
    await host.ready('rev_1');
    await oneCard(20_000);
    await until('it to be measured', async () => (await peak())[0]?.peak_mb === 20_000);
    await host.want('rev_2', bed.gpuSpec('second', 'gpu'));
    await host.release('rev_1');
    await host.retired('rev_1');
    await until('the end to be noted', async () => {
      const [row] = await host.database.read<{ ended: boolean }>(
        'system',
        'select ended_at is not null as ended from device_claims',
      );
      return row?.ended === true;
    });
    expect(await bed.devicesOf('second')).toEqual([]);
    await host.database.tx('system', (tx) => tx.query(shorten));
    await until(
      'the device to be faulty',
      async () => (await host.status('rev_2'))?.message?.includes('is unusable') === true,
    );
    await oneCard(12);
    await host.ready('rev_2');
  });

  it('start nothing while unknown programs use them', async () => {
    await oneCardHost(9_000);
    const host = await bed.deviceHost();
    await host.want('rev_1', bed.gpuSpec('m', 'gpu'));
    await host.waitsForDevice('rev_1', 'has 9000 MiB in use by unknown programs');
  });

  it('delay nothing else if nvidia-smi hangs: other instances start, and the worker ends in time', async () => {
    await nvidiaSmi(`echo x >> ${join(bed.home, 'smi-starts')}; exec sleep 1000`);
    const looks = { begun: 0, ended: 0 };
    const { devices } = ProcessDriver.prototype;
    jest.spyOn(ProcessDriver.prototype, 'devices').mockImplementation(async function (this: ProcessDriver) {
      looks.begun += 1;
      return devices.call(this).finally(() => (looks.ended += 1));
    });
    const host = await bed.deviceHost();
    await until('it to be asked', async () => existsSync(join(bed.home, 'smi-starts')));
    await host.want('rev_1', bed.gpuSpec('m', 'gpu'));
    await host.want('rev_2', bed.spec());
    await host.ready('rev_2');
    await host.waitsForDevice('rev_1', 'the devices of target local are not known yet');
    await host.release('rev_2');
    await host.retired('rev_2');
    // The tool does not answer until its time limit, and the worker ends before that.
    await until('another question', async () => looks.begun > looks.ended);
    const { ended } = looks;
    await host.close();
    expect(looks.ended).toBe(ended);
  });
});
