import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ProcessDriver } from '@slipway/target-process';
import { TargetBed, until } from '../test/target-bed.js';

jest.setTimeout(90_000);

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

/** One card with so much memory in use. The tool never sees half a file. */
async function oneCard(usedMb: number): Promise<void> {
  const file = join(bed.home, 'gpus.csv');
  await writeFile(`${file}.next`, `0, GPU-1, NVIDIA L4, 23034, ${usedMb}\n`);
  await rename(`${file}.next`, file);
}

async function oneCardHost(usedMb: number): Promise<void> {
  await oneCard(usedMb);
  await nvidiaSmi(`case "$1" in --query-gpu*) cat ${join(bed.home, 'gpus.csv')};; esac`);
}

it('gives a device on only when its memory is back, and calls it faulty when that takes too long', async () => {
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
    async () => (await host.status('rev_2'))?.message?.includes('is faulty') === true,
  );
  await oneCard(12);
  await host.ready('rev_2');
});

it('starts nothing on a device that strangers use', async () => {
  await oneCardHost(9_000);
  const host = await bed.deviceHost();
  await host.want('rev_1', bed.gpuSpec('m', 'gpu'));
  await host.waitsForDevice('rev_1', 'has 9000 MiB in use, by whom cannot be seen');
});

it('goes on beside a nvidia-smi that sleeps for ever: what needs no device starts, and the worker ends in time', async () => {
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
  await host.waitsForDevice('rev_1', 'none of target local is known yet');
  await host.release('rev_2');
  await host.retired('rev_2');
  // The tool answers nothing until its time limit, and the worker ends before that.
  await until('another question', async () => looks.begun > looks.ended);
  const { ended } = looks;
  await host.close();
  expect(looks.ended).toBe(ended);
});
