import { chmod, mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DeviceInventory, type DeviceInventoryOptions } from './device-inventory.js';

let host: string;
let path: string;

beforeEach(async () => {
  host = await mkdtemp(join(tmpdir(), 'slipway-devices-'));
  await mkdir(join(host, 'bin'));
  await mkdir(join(host, 'dev'));
  path = `${join(host, 'bin')}:/usr/bin:/bin`;
});
afterEach(() => rm(host, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<void> {
  const file = join(host, 'bin', name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

/** Installs an nvidia-smi that gives these answers to its queries. */
function nvidiaSmi(answers: { gpus: string; list?: string; apps?: string }): Promise<void> {
  return program(
    'nvidia-smi',
    `case "$1" in
--query-gpu*) cat <<'END'\n${answers.gpus}\nEND\n;;
-L) cat <<'END'\n${answers.list ?? ''}\nEND\n;;
*) cat <<'END'\n${answers.apps ?? ''}\nEND\n;;
esac`,
  );
}

function inventory(options: Partial<DeviceInventoryOptions> = {}): DeviceInventory {
  return new DeviceInventory('local', { path, devFolder: join(host, 'dev'), isOurs: async () => false, ...options });
}

const L4 = { uuid: 'GPU-1', index: 0, name: 'NVIDIA L4', memory_mb: 23034, used_mb: 5, is_usable: true, foreign_mb: 0 };

it('lists cards with their memory, unknown values as null, and a lost card as not usable', async () => {
  await nvidiaSmi({
    gpus: `0, GPU-1, NVIDIA L4, 23034, 5
1, GPU-2, NVIDIA GB10, [N/A], [Not Supported]
2, GPU-3, NVIDIA A100, PCIe, [GPU is lost], [GPU is lost]
rubbish
x, GPU-4, NVIDIA L4, 1, 1
3, ../../etc, NVIDIA L4, 1, 1`,
  });
  expect(await inventory().look('auto')).toEqual({
    devices: [
      L4,
      { ...L4, uuid: 'GPU-2', index: 1, name: 'NVIDIA GB10', memory_mb: null, used_mb: null },
      {
        ...L4,
        uuid: 'GPU-3',
        index: 2,
        name: 'NVIDIA A100, PCIe',
        memory_mb: null,
        used_mb: null,
        is_usable: false,
        problem: 'its driver reports: [GPU is lost]',
      },
    ],
  });
});

it('shows a divided card as its parts', async () => {
  await nvidiaSmi({
    gpus: '0, GPU-aa, NVIDIA A100, 40960, 100\n1, GPU-bb, NVIDIA A100, 40960, 100',
    list: `GPU 0: NVIDIA A100 (UUID: GPU-aa)
  MIG 3g.20gb     Device  0: (UUID: MIG-1111)
  MIG 1g.5gb      Device  1: (UUID: MIG-2222)
GPU 1: NVIDIA A100 (UUID: GPU-bb)`,
  });
  const { devices } = await inventory().look('auto');
  expect(devices.map(({ uuid, name, memory_mb }) => [uuid, name, memory_mb])).toEqual([
    ['MIG-1111', 'NVIDIA A100 MIG 3g.20gb', 19073],
    ['MIG-2222', 'NVIDIA A100 MIG 1g.5gb', 4768],
    ['GPU-bb', 'NVIDIA A100', 40960],
  ]);
});

it('counts the memory of foreign processes, and not that of instances', async () => {
  await nvidiaSmi({
    gpus: '0, GPU-1, NVIDIA L4, 23034, 5',
    apps: 'GPU-1, 11, 4000\nGPU-1, 12, 300\nGPU-1, 13, [N/A]\nGPU-1, 14, 9000',
  });
  const { devices } = await inventory({ isOurs: async (pid) => pid === 14 }).look('auto');
  expect(devices).toEqual([{ ...L4, foreign_mb: 4300 }]);
});

it('reads rocm-smi if the host has that program', async () => {
  await program(
    'rocm-smi',
    `echo 'WARNING: low power'; echo '{"card0": {"Unique ID": "0xAB12", "Card Series": "MI300X", "VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "297795584"}, "system": {"Driver": "6"}}'`,
  );
  expect(await inventory().look('auto')).toEqual({
    devices: [{ ...L4, uuid: 'AMD-ab12', name: 'MI300X', memory_mb: 196592, used_mb: 284 }],
  });
});

it('lists cards without a program to query as of unknown size, and none on a host without cards', async () => {
  expect(await inventory().look('auto')).toEqual({ devices: [] });
  await writeFile(join(host, 'dev', 'nvidia1'), '');
  await writeFile(join(host, 'dev', 'nvidiactl'), '');
  expect(await inventory().look('auto')).toEqual({
    devices: [{ ...L4, uuid: 'local/nvidia1', index: 1, name: 'NVIDIA device', memory_mb: null, used_mb: null }],
    problem: 'nvidia-smi is not on the PATH: memory and usage are unknown',
  });
});

it("uses the operator's list unchanged, and runs no program", async () => {
  await program('nvidia-smi', `touch ${join(host, 'asked')}`);
  expect(await inventory().look([{ index: 1, memory_mb: 100 }])).toEqual({
    devices: [{ ...L4, uuid: 'local/1', index: 1, name: 'device', memory_mb: 100, used_mb: null }],
  });
  expect(await inventory().look('none')).toEqual({ devices: [] });
  await expect(readFile(join(host, 'asked'))).rejects.toThrow('ENOENT');
});

it.each([
  ['fails', 'echo "NVIDIA-SMI has failed"; exit 9', 'ended with code 9'],
  ['talks without end', 'while :; do echo "0, GPU-1, NVIDIA L4, 1, 1, garbage garbage garbage"; done', '256 KiB'],
  ['talks nonsense', 'head -c 3000 /dev/urandom', 'no readable device'],
])('reports the problem of a program that %s', async (_what, script, problem) => {
  await program('nvidia-smi', script);
  const found = await inventory().look('auto');
  expect(found.problem).toContain(problem);
  expect(found.devices.length).toBeLessThanOrEqual(128);
});

it('returns in time from a program that hangs, and ends it with all its children', async () => {
  await program('nvidia-smi', `echo x >> ${join(host, 'starts')}\nsleep 600 & echo $! > ${join(host, 'child')}\nwait`);
  const devices = inventory({ limitMs: 500 });
  const begun = performance.now();
  // A caller during the query waits for the same answer.
  const answers = await Promise.all([devices.look('auto'), devices.look('auto')]);
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(answers[0]).toEqual({ devices: [], problem: expect.stringMatching(/did not respond within 0\.\d s/) });
  expect(await readFile(join(host, 'starts'), 'utf8')).toBe('x\n');
  const child = Number(await readFile(join(host, 'child'), 'utf8'));
  await until(() => !isAlive(child));
});

it('starts no second program while one runs that not even SIGKILL ends', async () => {
  // A process in the uninterruptible sleep of a broken driver never ends. Here the test prevents the end instead.
  const { askProgram } = await import('./host-command.js');
  await program('nvidia-smi', `echo x >> ${join(host, 'starts')}\necho $$ > ${join(host, 'pid')}\nexec sleep 600`);
  const file = join(host, 'bin', 'nvidia-smi');
  const kill = process.kill.bind(process);
  process.kill = () => true;
  try {
    const ask = () => askProgram(file, [], { path, limitMs: 300 });
    expect((await ask()).problem).toContain('did not respond');
    expect((await ask()).problem).toContain('has not responded for');
    expect((await Promise.all([ask(), ask()])).map(({ problem }) => problem)).toEqual([
      expect.stringContaining('has not responded for'),
      expect.stringContaining('has not responded for'),
    ]);
    expect(await readFile(join(host, 'starts'), 'utf8')).toBe('x\n');
  } finally {
    process.kill = kill;
    kill(Number(await readFile(join(host, 'pid'), 'utf8')), 'SIGKILL');
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
