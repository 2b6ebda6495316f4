import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import type { InstanceSpec, Observation, TargetDriver, ObservedState } from './driver.js';

/** One target with one server program that the spec of a driver can control. Each test makes a new one. */
export interface ConformanceSubject {
  /** A driver object as a newly started worker would make it. It shares only the host with earlier objects. */
  newDriver(): TargetDriver;
  /** A valid spec with `failureThreshold` 2. `setHealthy` decides whether its server is healthy; at first it is not. */
  spec(overrides?: Partial<InstanceSpec>): InstanceSpec;
  setHealthy(isHealthy: boolean): Promise<void>;
  /** The number of servers that were really started for the instance. The servers themselves count. */
  starts(instanceId: string): Promise<number>;
  /** Kills the server as a crash would. */
  crash(observed: Observation): Promise<void>;
  dispose(): Promise<void>;
}

/** The promises of a driver: whether it starts servers or adopts running ones, and who restarts and probes them. */
export type DriverPromises = Pick<TargetDriver, 'adopts' | 'restarts' | 'probes' | 'outlivesHost'>;

/** The contract of every driver, as tests. Call it at the top level of a driver's spec. */
export function describeConformance(
  name: string,
  options: DriverPromises & { create: () => Promise<ConformanceSubject> },
): void {
  describe(`${name} keeps the promises of a target driver`, () => {
    let subject: ConformanceSubject;
    let driver: TargetDriver;
    const drivers: TargetDriver[] = [];
    const freshDriver = () => {
      const made = subject.newDriver();
      drivers.push(made);
      return made;
    };

    beforeEach(async () => {
      subject = await options.create();
      driver = freshDriver();
    });
    afterEach(async () => {
      await Promise.all(drivers.splice(0).map((each) => each.close()));
      await subject.dispose();
    });

    it('reports its promises and its engines', () => {
      const { adopts, restarts, probes, outlivesHost } = driver;
      expect({ adopts, restarts, probes, outlivesHost }).toEqual({
        adopts: options.adopts,
        restarts: options.restarts,
        probes: options.probes,
        outlivesHost: options.outlivesHost,
      });
      expect(driver.engines().length > 0).toBe(!options.adopts);
    });

    it('finds no issue in a valid spec, and names the field of an invalid one', () => {
      expect(driver.check(subject.spec())).toEqual([]);
      expect(
        driver.check({ ...subject.spec(), runtime: { engine: 'sim', args: { no_such_argument: 1 }, env: {} } }),
      ).not.toEqual([]);
      expect(driver.check(subject.spec({ instanceId: '../escape' })).map((issue) => issue.field)).toContain(
        'instance_id',
      );
    });

    it('does not provision a spec that check refuses', async () => {
      await expect(driver.provision(subject.spec({ instanceId: '../escape' }))).rejects.toMatchObject({
        name: 'InvalidSpecError',
      });
    });

    it('becomes ready with an address, unhealthy after failureThreshold misses, and ready again', async () => {
      const spec = subject.spec();
      await driver.provision(spec);
      expect((await driver.observe(spec)).state).toBe('starting');
      await subject.setHealthy(true);
      const ready = await observeUntil(driver, spec, 'ready');
      expect(ready.baseUrl).toMatch(/^https?:\/\/[^/]+$/);
      expect(ready.generation).toBe(spec.generation);

      await subject.setHealthy(false);
      if (options.probes === 'look') {
        expect((await driver.observe(spec)).state).toBe('ready');
        expect(await driver.observe(spec)).toMatchObject({ state: 'unhealthy', reason: 'probe_failed' });
        await subject.setHealthy(true);
        expect((await driver.observe(spec)).state).toBe('ready');
        return;
      }
      expect((await observeUntil(driver, spec, 'unhealthy')).reason).toBe('probe_failed');
      await subject.setHealthy(true);
      await observeUntil(driver, spec, 'ready');
    });

    it('sends one health request without counting it', async () => {
      const spec = subject.spec();
      await driver.provision(spec);
      await subject.setHealthy(true);
      const { baseUrl = '' } = await observeUntil(driver, spec, 'ready');
      expect(await driver.answers(spec, baseUrl)).toBe(true);
      await subject.setHealthy(false);
      for (let time = 0; time < 5; time += 1) expect(await driver.answers(spec, baseUrl)).toBe(false);
      if (options.probes === 'look') expect((await driver.observe(spec)).state).toBe('ready');
      expect(await driver.answers(spec, 'http://127.0.0.1:1')).toBe(false);
    });

    it('reports how requests reach the server, with the model of the spec', async () => {
      const spec = subject.spec();
      await driver.provision(spec);
      await subject.setHealthy(true);
      const { baseUrl = '' } = await observeUntil(driver, spec, 'ready');
      const callable = driver.callable(spec, baseUrl);
      expect(callable).toMatchObject({ baseUrl, model: spec.model.id });
      const { statusCode, body } = await request(baseUrl, { dispatcher: callable.dispatcher });
      expect(statusCode).toBeGreaterThanOrEqual(200);
      await body.dump();
    });

    it('terminates an instance twice, and an unknown id', async () => {
      await subject.setHealthy(true);
      const spec = subject.spec();
      await driver.provision(spec);
      await observeUntil(driver, spec, 'ready');
      await terminateUntilGone(driver, spec.instanceId);
      expect(await driver.terminate(spec.instanceId)).toBe('gone');
      expect(await driver.terminate('never-heard-of')).toBe('gone');
      expect(await driver.list()).toEqual([]);
    });

    it('lets another driver object take over, and leaves the instance running on close', async () => {
      await subject.setHealthy(true);
      const spec = subject.spec();
      await driver.provision(spec);
      const before = await observeUntil(driver, spec, 'ready');
      await driver.close();

      const successor = freshDriver();
      await successor.provision(spec);
      const after = await observeUntil(successor, spec, 'ready');
      expect({ incarnation: after.incarnation, baseUrl: after.baseUrl }).toEqual({
        incarnation: before.incarnation,
        baseUrl: before.baseUrl,
      });
      expect(await successor.list()).toEqual(await freshDriver().list());
    });

    if (options.adopts) describeAdopting();
    else describeStarting();

    function describeAdopting(): void {
      it('starts nothing and stops nothing', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await Promise.all([driver.provision(spec), driver.provision(spec)]);
        expect(await subject.starts(spec.instanceId)).toBe(0);
        expect(await driver.terminate(spec.instanceId)).toBe('gone');
        expect((await driver.observe(spec)).state).toBe('ready');
      });

      it('reports a crash as unhealthy', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await subject.crash(await observeUntil(driver, spec, 'ready'));
        await observeUntil(driver, spec, 'unhealthy');
      });
    }

    function describeStarting(): void {
      it('reports absent before an instance is provisioned', async () => {
        expect(await driver.observe(subject.spec())).toEqual({ state: 'absent' });
        expect(await driver.list()).toEqual([]);
      });

      it('starts a generation once, however many callers provision it and however often', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        const rival = freshDriver();
        await Promise.all([driver, rival, driver, rival].map((each) => each.provision(spec)));
        await driver.provision(spec);
        const [one, other] = [await observeUntil(driver, spec, 'ready'), await observeUntil(rival, spec, 'ready')];
        expect(one.incarnation).toEqual(expect.any(String));
        expect(one.incarnation).toBe(other.incarnation);
        expect(await subject.starts(spec.instanceId)).toBe(1);
        expect(await driver.list()).toEqual([
          { instanceId: spec.instanceId, generation: spec.generation, incarnation: one.incarnation },
        ]);
      });

      if (options.restarts === 'caller') describeCallerRestarts();
      else describeTargetRestarts();

      it('replaces a running generation by the next, and never runs both', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await driver.provision(spec);
        const first = await observeUntil(driver, spec, 'ready');
        const next = { ...spec, generation: spec.generation + 1 };
        const end = Date.now() + 15_000;
        for (let seen = await driver.observe(next); seen.state !== 'ready'; seen = await driver.observe(next)) {
          if (Date.now() > end) throw new Error(`the next generation is ${seen.state}`);
          await driver.provision(next);
          await pause(25);
        }
        expect(await subject.starts(spec.instanceId)).toBe(2);
        expect(await driver.observe(spec)).toMatchObject({ state: 'exited', reason: 'replaced' });
        expect((await driver.list()).map((ref) => ref.generation)).toEqual([next.generation]);
        expect((await driver.list())[0].incarnation).not.toBe(first.incarnation);
      });

      it('does not start a terminated generation, not even for a late caller', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await driver.provision(spec);
        await observeUntil(driver, spec, 'ready');
        await terminateUntilGone(driver, spec.instanceId);
        await freshDriver().provision(spec);
        expect(await driver.observe(spec)).toMatchObject({ state: 'exited', reason: 'terminated' });
        expect(await subject.starts(spec.instanceId)).toBe(1);
      });

      it('stops an instance that another driver object started', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await driver.provision(spec);
        await observeUntil(driver, spec, 'ready');
        const successor = freshDriver();
        expect(await successor.terminate(spec.instanceId)).toBe('stopping');
        await observeUntil(successor, spec, 'exited');
        await terminateUntilGone(successor, spec.instanceId);
      });
    }

    function describeTargetRestarts(): void {
      it('reports without a request that an instance became ready, and that its server ended', async () => {
        const changed: string[] = [];
        driver.onChange?.((instanceId) => changed.push(instanceId));
        const untilTold = async () => {
          const end = Date.now() + 15_000;
          while (!changed.includes(subject.spec().instanceId)) {
            if (Date.now() > end) throw new Error('the change was not reported');
            await pause(25);
          }
        };
        await subject.setHealthy(true);
        const spec = subject.spec();
        await driver.provision(spec);
        const first = await observeUntil(driver, spec, 'ready');
        await untilTold();
        changed.length = 0;
        await subject.crash(first);
        await untilTold();
        expect(driver.health?.().state ?? 'ok').toBe('ok');
      });

      it('restarts a crashed server in the same generation, and counts the restart', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await driver.provision(spec);
        const first = await observeUntil(driver, spec, 'ready');
        await subject.crash(first);
        const end = Date.now() + 15_000;
        let seen = await driver.observe(spec);
        while (seen.state !== 'ready' || seen.incarnation === first.incarnation) {
          if (Date.now() > end) throw new Error(`it was not restarted: ${JSON.stringify(seen)}`);
          expect(seen.state).not.toBe('exited');
          await pause(25);
          seen = await driver.observe(spec);
        }
        expect(seen).toMatchObject({ generation: spec.generation, restarts: (first.restarts ?? 0) + 1 });
        expect(seen.lastExit).toBeDefined();
        expect(await subject.starts(spec.instanceId)).toBe(2);
      });
    }

    function describeCallerRestarts(): void {
      it('never starts a crashed generation again, but starts the next one', async () => {
        await subject.setHealthy(true);
        const spec = subject.spec();
        await driver.provision(spec);
        const first = await observeUntil(driver, spec, 'ready');
        await subject.crash(first);
        await observeUntil(driver, spec, 'exited');
        await driver.provision(spec);
        await freshDriver().provision(spec);
        expect((await driver.observe(spec)).state).toBe('exited');
        expect(await subject.starts(spec.instanceId)).toBe(1);

        const next = { ...spec, generation: spec.generation + 1 };
        expect((await driver.observe(next)).state).toBe('absent');
        await driver.provision(next);
        const second = await observeUntil(driver, next, 'ready');
        expect(second.incarnation).not.toBe(first.incarnation);
        expect(await subject.starts(spec.instanceId)).toBe(2);
      });
    }
  });
}

/**
 * Observes until the state is `wanted`.
 * @throws Error with every observed state if that does not happen in time
 */
export async function observeUntil(
  driver: TargetDriver,
  spec: InstanceSpec,
  wanted: ObservedState,
  deadlineMs = 15_000,
): Promise<Observation> {
  const end = Date.now() + deadlineMs;
  const seen: string[] = [];
  for (;;) {
    const observed = await driver.observe(spec);
    if (observed.state === wanted) return observed;
    const line = JSON.stringify(observed);
    if (seen.at(-1) !== line) seen.push(line);
    if (Date.now() > end) throw new Error(`never became ${wanted}; saw ${seen.join(', ')}`);
    await pause(25);
  }
}

/**
 * Terminates until nothing is left.
 * @throws Error if something is left after `deadlineMs`
 */
export async function terminateUntilGone(driver: TargetDriver, instanceId: string, deadlineMs = 15_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while ((await driver.terminate(instanceId)) !== 'gone') {
    if (Date.now() > end) throw new Error(`${instanceId} is not gone`);
    await pause(25);
  }
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
