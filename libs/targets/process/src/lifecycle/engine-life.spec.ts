import { readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { EngineHost, isRunning, until } from '../../test/engine-host.js';
import { EngineCgroups } from '../host/engine-cgroup.js';
import type { EngineConfig } from '../templates/engine-config.js';
import { EngineProcesses } from '../instances/engine-process.js';
import type { ProcessDriver } from '../process-driver.js';

// Tests which processes belong to an engine, how they are stopped, and which limits apply to them. Without /proc
// nothing distinguishes children from foreign processes.
const isLinux = process.platform === 'linux';
const hasCgroups = EngineCgroups.find() !== undefined;
const trackings = [
  { by: 'the variable in their environment', cgroups: false, isThere: isLinux },
  { by: 'their control group', cgroups: true, isThere: hasCgroups },
];

let host: EngineHost;
let driver: ProcessDriver;
beforeEach(async () => {
  host = await EngineHost.create();
  await host.setHealthy(true);
});
afterEach(async () => {
  await driver.close();
  await host.dispose();
});

const pidOf = ({ incarnation }: Observation) => Number(incarnation);
const folder = () => join(host.home, 'instances', 'local', 'inst_1');
const start = async (args: Record<string, string | boolean>, engine: Partial<EngineConfig> = {}, options = {}) => {
  driver = host.driver(options, engine);
  const spec = host.spec({}, args);
  await driver.provision(spec);
  return { spec, pid: pidOf(await observeUntil(driver, spec, 'ready')) };
};
const childrenUp = async (count: number) => {
  await until('the children are up', async () => (await host.children()).pids.length === count);
  return (await host.children()).pids;
};
const areGone = async (pids: number[]) => {
  for (const pid of pids) await until(`${pid} is gone`, async () => !(await isRunning(pid)));
};

describe.each(trackings.filter(({ isThere }) => isThere))('processes that are identified by $by', ({ cgroups }) => {
  it('are gone before the next generation starts, including grandchildren in sessions of their own', async () => {
    const { pid } = await start({ children: 'session' }, {}, { cgroups });
    const pids = await childrenUp(2);
    process.kill(pid, 'SIGKILL');
    const next = host.spec({ generation: 2 });
    await until('the next generation is ready', async () => {
      await driver.provision(next);
      const runs = (await host.starts()).length === 2;
      if (runs) expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]);
      return (await driver.observe(next)).state === 'ready';
    });
  });

  it('are ended even if a process title has overwritten their environment', async () => {
    const { pid } = await start({ children: 'wiped' }, {}, { cgroups });
    const pids = await childrenUp(1);
    process.kill(pid, 'SIGKILL');
    await terminateUntilGone(driver, 'inst_1');
    await areGone(pids);
  });

  it('keep running if they belong to another generation, or to another installation', async () => {
    await start({ children: 'session' }, {}, { cgroups });
    const pids = await childrenUp(2);
    const processes = new EngineProcesses();
    const record = { pid: 2 ** 30, port: 1, bootId: processes.bootId, birth: '1' };
    const other = { instanceId: 'inst_1', generation: 2, folder: folder(), record };
    expect(await processes.killAll(other)).toBe(false);
    expect(await processes.killAll({ ...other, generation: 1, folder: '/elsewhere' })).toBe(false);
    expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
  });
});

(hasCgroups ? it : it.skip)(
  'processes that have thrown their environment away are ended by their control group',
  async () => {
    const { pid } = await start({ children: 'hidden' });
    const pids = await childrenUp(1);
    process.kill(pid, 'SIGKILL');
    await terminateUntilGone(driver, 'inst_1');
    await areGone(pids);
  },
);

(hasCgroups ? it : it.skip)('removes the control group of a generation together with the generation', async () => {
  await start({});
  const { cgroup } = JSON.parse(await readFile(join(folder(), '1.intent'), 'utf8'));
  expect((await readFile(join(cgroup, 'cgroup.procs'), 'utf8')).trim()).not.toBe('');
  await terminateUntilGone(driver, 'inst_1');
  await expect(stat(cgroup)).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('the stop signal', () => {
  it('is sent only to the leader, and processes that it leaves are killed', async () => {
    await start({ children: 'group', note_signals: true });
    const pids = await childrenUp(1);
    await terminateUntilGone(driver, 'inst_1');
    await areGone(pids);
    expect(await readFile(`${host.log()}.signals`, 'utf8')).toBe('SIGTERM\n');
    expect((await host.children()).signals).toEqual([]);
  });

  it('is the signal of the template', async () => {
    await start({ children: 'group', note_signals: true }, { stop: { signal: 'SIGINT' } });
    await terminateUntilGone(driver, 'inst_1');
    expect(await readFile(`${host.log()}.signals`, 'utf8')).toBe('SIGINT\n');
  });

  it('is sent to the whole group if the template says so', async () => {
    await start({ children: 'group', ignore_term: true }, { stop: { to: 'group' } });
    await childrenUp(1);
    await driver.terminate('inst_1');
    await until('the child has got it', async () => (await host.children()).signals.includes('SIGTERM'));
  });

  it('has the grace period of the start, even for a worker with another template', async () => {
    const { pid } = await start({ ignore_term: true }, { stop: { grace_seconds: 600 } });
    const other = host.driver({ graceSeconds: 0 });
    await other.terminate('inst_1');
    expect(await other.terminate('inst_1')).toBe('stopping');
    expect(await isRunning(pid)).toBe(true);
    const past = new Date(Date.now() - 601_000);
    await utimes(join(folder(), '1.stop'), past, past);
    await terminateUntilGone(other, 'inst_1');
    expect(await isRunning(pid)).toBe(false);
    await other.close();
  });
});

describe('limits', () => {
  const limitOf = (limits: string, name: string) => new RegExp(`^${name} +(\\S+) +(\\S+)`, 'm').exec(limits)?.slice(1);

  (isLinux ? it : it.skip)('apply to open files, core files and the priority of an engine', async () => {
    const { pid } = await start({}, { limits: { nofile: 123, core_mb: 1, nice: 7 } });
    const limits = await readFile(`/proc/${pid}/limits`, 'utf8');
    expect(limitOf(limits, 'Max open files')).toEqual(['123', '123']);
    expect(limitOf(limits, 'Max core file size')).toEqual(['1048576', '1048576']);
    expect((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')[16]).toBe('7');
  });

  (hasCgroups && EngineCgroups.find()!.limitsMemory ? it : it.skip)(
    'apply to the memory of all processes',
    async () => {
      await start({}, { limits: { memory_mb: 300 } });
      const { cgroup } = JSON.parse(await readFile(join(folder(), '1.intent'), 'utf8'));
      expect(await readFile(join(cgroup, 'memory.max'), 'utf8')).toBe(`${300 * 1024 * 1024}\n`);
    },
  );

  it('are reported if they cannot be enforced', () => {
    driver = host.driver({ cgroups: false }, { limits: { memory_mb: 300 } });
    expect(driver.warnings()).toEqual([
      expect.stringContaining('tracked with an environment variable'),
      expect.stringContaining('run as the user of the worker'),
      expect.stringContaining('limits.memory_mb has no effect'),
    ]);
  });
});
