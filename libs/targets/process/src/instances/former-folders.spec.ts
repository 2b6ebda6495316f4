import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InstanceSpec, UnitLocation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { engineConfig, EngineHost, isRunning, until } from '../../test/engine-host.js';
import { ProcessDriver } from '../process-driver.js';

/** Without /proc nothing shows a process whose folder is gone. */
const itOnLinux = process.platform === 'linux' ? it : it.skip;

let host: EngineHost;
let driver: ProcessDriver;
let newHome: string;
beforeEach(async () => {
  host = await EngineHost.create();
  newHome = await mkdtemp(join(tmpdir(), 'slipway-target-'));
  driver = host.driver();
  await host.setHealthy(true);
});
afterEach(async () => {
  await driver.close();
  await host.dispose();
  await rm(newHome, { recursive: true, force: true });
});

const instances = () => join(host.home, 'instances');

/** An engine that runs in the first home, as the caller stores it. */
async function made(): Promise<{ spec: InstanceSpec & { madeAt: UnitLocation[] }; pid: number }> {
  const spec = { ...host.spec(), madeAt: [driver.locationOf()] };
  await driver.provision(spec);
  await observeUntil(driver, spec, 'ready');
  return { spec, pid: (await host.starts())[0]!.pid };
}

it('an engine in an earlier home is observed, listed and stopped there, and its next generation too', async () => {
  const { spec, pid } = await made();
  const later = host.driver({ home: newHome });
  expect(later.unreachable('inst_1', spec.madeAt)).toBeUndefined();
  expect((await observeUntil(later, spec, 'ready')).generation).toBe(1);
  expect(await later.list(spec.madeAt)).toMatchObject([{ instanceId: 'inst_1', generation: 1 }]);
  const second = { ...spec, generation: 2, madeAt: [...spec.madeAt, later.locationOf()] };
  await until('the second generation to start', async () => {
    await later.provision(second);
    return (await host.starts()).length === 2;
  });
  expect(await isRunning(pid)).toBe(false);
  await observeUntil(later, second, 'ready');
  await terminateUntilGone(later, 'inst_1');
  expect(await isRunning((await host.starts())[1]!.pid)).toBe(false);
  await later.close();
});

it('an engine is found in a home that was moved', async () => {
  const { spec } = await made();
  await rename(instances(), join(newHome, 'instances'));
  const later = host.driver({ home: newHome });
  expect(later.unreachable('inst_1', spec.madeAt)).toBeUndefined();
  expect((await observeUntil(later, spec, 'ready')).generation).toBe(1);
  await terminateUntilGone(later, 'inst_1');
  await later.close();
});

itOnLinux('an engine whose folder is gone is neither absent nor stopped, and its process is named', async () => {
  const { spec, pid } = await made();
  await cp(instances(), join(newHome, 'kept'), { recursive: true });
  await rm(instances(), { recursive: true });
  const named = new RegExp(`process ${pid} of this host belongs to it`);
  for (const later of [host.driver(), host.driver({ home: newHome })]) {
    expect(later.unreachable('inst_1', spec.madeAt)).toMatch(named);
    await expect(later.observe(spec)).rejects.toThrow(named);
    await expect(later.terminate('inst_1', spec.madeAt)).rejects.toThrow(named);
    await later.close();
  }
  await cp(join(newHome, 'kept'), instances(), { recursive: true });
  await terminateUntilGone(driver, 'inst_1');
});

itOnLinux('an instance without a folder and without a process has ended with its host', async () => {
  const madeAt = [{ kind: 'process', home: '/nowhere' }];
  expect(driver.unreachable('inst_1', madeAt)).toBeUndefined();
  expect(await driver.observe({ ...host.spec(), madeAt })).toEqual({ state: 'absent' });
  expect(await driver.terminate('inst_1', madeAt)).toBe('gone');
});

it('engines of a target that the file does not name are listed with the command that ends them', async () => {
  const { pid } = await made();
  const other = new ProcessDriver({ ...engineConfig(), name: 'renamed' }, { home: host.home });
  expect(await other.unknownUnits(new Set(['renamed']))).toEqual([
    {
      target: 'local',
      location: `folder ${join(instances(), 'local')}`,
      count: 1,
      running: 1,
      names: ['inst_1'],
      command: `kill ${pid}`,
    },
  ]);
  expect(await other.unknownUnits(new Set(['renamed', 'local']))).toEqual([]);
  await other.close();
  await terminateUntilGone(driver, 'inst_1');
  expect(await driver.unknownUnits(new Set())).toEqual([]);
});
