import { existsSync } from 'node:fs';
import { readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { EngineHost, isRunning, until } from '../../test/engine-host.js';
import type { ProcessDriver } from '../process-driver.js';

// A caller is about to start generation n and is late: another process has claimed generation n, or it was terminated,
// or n + 1 replaced it. The late caller must not become an engine, at any line at which it was delayed.

let host: EngineHost;
let driver: ProcessDriver;
beforeEach(async () => {
  host = await EngineHost.create();
  driver = host.driver();
  await host.setHealthy(true);
});
afterEach(async () => {
  await driver.close();
  await host.dispose();
});

const filesOf = (generation: number) =>
  readdir(join(host.home, 'instances', 'local', 'inst_1')).then((names) =>
    names.filter((name) => name.startsWith(`${generation}.`)).sort(),
  );
const first = () => host.spec();
const next = () => host.spec({ generation: 2 });
const started = async () => (await host.starts()).map(({ generation, pid }) => ({ generation, pid }));
const pidOf = ({ incarnation }: Observation) => Number(incarnation);
/** Like the reconciler: calls it again until the engine runs. */
const provisionUntilReady = async (by: ProcessDriver, spec: ReturnType<typeof first>) => {
  await until(`generation ${spec.generation} is ready`, async () => {
    await by.provision(spec);
    return (await by.observe(spec)).state === 'ready';
  });
  return pidOf(await by.observe(spec));
};

/** A worker of this process that pauses right before it spawns, after everything before that. */
const standingBeforeSpawn = async (spec: ReturnType<typeof first>) => {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let stands = (): void => undefined;
  const isStanding = new Promise<void>((resolve) => (stands = resolve));
  const rival = host.driver({
    pausePoint: async (point) => {
      if (point !== 'provision.before_spawn') return;
      stands();
      await gate;
    },
  });
  // It first ends the processes of older generations, which may take more than one call.
  const done = (async () => {
    let isOver = false;
    void isStanding.then(() => (isOver = true));
    do await rival.provision(spec);
    while (!isOver);
    await rival.close();
  })();
  await isStanding;
  return { goOn, done };
};

/** Bash, because its traps can pause a script at a line. */
const points = (['start', 'claim', 'look'] as const).filter((at) => at === 'start' || existsSync('/bin/bash'));

describe.each(points)('a process that is delayed at its %s while its worker dies', (at) => {
  const pausedProcess = async () => {
    const paused = await host.pausingShell(at);
    await host.provisionAndDieAt('provision.after_spawn', first(), { shell: paused.shell });
    await paused.paused();
    return paused;
  };

  it('starts nothing once its generation was terminated', async () => {
    const paused = await pausedProcess();
    await terminateUntilGone(driver, 'inst_1');
    await paused.goOn();
    expect(await started()).toEqual([]);
    expect((await driver.observe(first())).state).toBe('exited');
    expect(await driver.terminate('inst_1')).toBe('gone');
  });

  it('starts nothing once the next generation runs', async () => {
    const paused = await pausedProcess();
    const pid = await provisionUntilReady(driver, next());
    await paused.goOn();
    expect(await started()).toEqual([{ generation: 2, pid }]);
    expect(await isRunning(pid)).toBe(true);
    expect(await driver.observe(next())).toMatchObject({ state: 'ready', incarnation: String(pid) });
    expect((await driver.observe(first())).state).toBe('exited');
    expect(await driver.list()).toEqual([{ instanceId: 'inst_1', generation: 2, incarnation: String(pid) }]);
  });

  it('starts nothing while the next generation is about to start', async () => {
    const paused = await pausedProcess();
    const rival = await standingBeforeSpawn(next());
    await paused.goOn();
    expect(await started()).toEqual([]);
    rival.goOn();
    await rival.done;
    await observeUntil(driver, next(), 'ready');
    expect((await started()).map(({ generation }) => generation)).toEqual([2]);
  });

  if (at !== 'look')
    it('starts nothing once another process has claimed its generation', async () => {
      const paused = await pausedProcess();
      // No process has claimed it yet, so the successor must start it.
      expect(await driver.observe(first())).toEqual({ state: 'absent' });
      await driver.provision(first());
      const pid = pidOf(await observeUntil(driver, first(), 'ready'));
      await paused.goOn();
      expect(await started()).toEqual([{ generation: 1, pid }]);
      expect(pidOf(await driver.observe(first()))).toBe(pid);
    });
});

it('a process that has claimed its generation counts as started while it checks, and no other starts', async () => {
  if (!points.includes('look')) return;
  const paused = await host.pausingShell('look');
  await host.provisionAndDieAt('provision.after_spawn', first(), { shell: paused.shell });
  await paused.paused();
  const counting = await host.countingShell();
  const successor = host.driver({ shell: counting.shell });
  await successor.provision(first());
  expect([(await successor.observe(first())).state, await counting.spawned()]).toEqual(['starting', 0]);
  await successor.close();
  await terminateUntilGone(driver, 'inst_1');
});

describe('a late worker', () => {
  it.each([
    ['with a generation that another one has started', async () => void (await provisionUntilReady(driver, first()))],
    [
      'with a generation that was terminated',
      async () => {
        await provisionUntilReady(driver, first());
        await terminateUntilGone(driver, 'inst_1');
      },
    ],
    [
      'with a generation that was terminated before anybody had started it',
      async () => {
        const paused = await host.pausingShell('start');
        await host.provisionAndDieAt('provision.after_spawn', first(), { shell: paused.shell });
        await terminateUntilGone(driver, 'inst_1');
        await paused.goOn();
        // The files that the process itself left would also keep others from starting.
        await rm(join(host.home, 'instances', 'local', 'inst_1', '1.pid'), { force: true });
      },
    ],
    ['with a generation that the next one replaced', async () => void (await provisionUntilReady(driver, next()))],
    [
      'with a generation before one that is about to start',
      async () => void (await host.provisionAndDieAt('provision.before_spawn', next())),
    ],
  ])('%s spawns no process', async (_what, before) => {
    await before();
    const [files, already] = [await filesOf(1), await started()];
    const counting = await host.countingShell();
    const late = host.driver({ shell: counting.shell });
    await late.provision(first());
    expect(await counting.spawned()).toBe(0);
    expect(await filesOf(1)).toEqual(files);
    expect(await started()).toEqual(already);
    await late.close();
  });
});

describe('the next generation', () => {
  it('does not start before the previous one is gone', async () => {
    const patient = host.driver({ graceSeconds: 600 });
    const stubborn = host.spec({}, { ignore_term: true });
    await patient.provision(stubborn);
    const pid = pidOf(await observeUntil(patient, stubborn, 'ready'));
    const counting = await host.countingShell();
    const successor = host.driver({ graceSeconds: 600, shell: counting.shell });
    for (let round = 0; round < 3; round += 1) await successor.provision(next());
    expect([await counting.spawned(), await isRunning(pid)]).toEqual([0, true]);
    expect(await successor.observe(next())).toMatchObject({
      state: 'stopping',
      generation: 1,
      incarnation: String(pid),
    });
    // The mark is now as old as the grace period.
    const past = new Date(Date.now() - 601_000);
    await utimes(join(host.home, 'instances', 'local', 'inst_1', '1.stop'), past, past);
    const newPid = await provisionUntilReady(successor, next());
    expect(await isRunning(pid)).toBe(false);
    expect(await started()).toEqual([
      { generation: 1, pid },
      { generation: 2, pid: newPid },
    ]);
    await successor.close();
    await patient.close();
  });

  it('ends an older one that started in the same instant', async () => {
    // Each had checked before the other had written a file, so the file of the one that is about to start is removed.
    const rival = await standingBeforeSpawn(next());
    await rm(join(host.home, 'instances', 'local', 'inst_1', '2.intent'));
    const older = await provisionUntilReady(driver, first());
    rival.goOn();
    await rival.done;
    const newer = pidOf(await observeUntil(driver, next(), 'ready'));
    await until('the older one has ended', async () => {
      expect(pidOf(await driver.observe(next()))).toBe(newer);
      return !(await isRunning(older));
    });
    expect(await driver.list()).toEqual([{ instanceId: 'inst_1', generation: 2, incarnation: String(newer) }]);
  });
});
