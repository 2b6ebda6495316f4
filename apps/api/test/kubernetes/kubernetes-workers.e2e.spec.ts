import { once } from 'node:events';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { exactly, KubeStack, lost, specOn, type Unit } from './kube-stack.js';
import { isRefused } from '../harness/refusals.js';
import { isAlive, until } from '../harness/stack.js';

// Several starts of workers and a rollout each: minutes on a busy machine.
jest.setTimeout(300_000);

const READY_MS = 120_000;
const GONE_MS = 60_000;
/** Until another worker leads, once Postgres has ended the session of the previous one. */
const TAKEOVER_MS = 10_000;

let kube: KubeStack;
beforeAll(async () => {
  if (hasKube) kube = await KubeStack.start({ nodes: [{}, {}] });
});
afterAll(() => kube?.stop());

const pointOf = (name: string) => `targets:kubernetes:${name}`;
const generationOf = ({ metadata }: Unit) => metadata.labels?.['slipway.dev/generation'];
const begun = (name: string, model: string, more: object = {}) =>
  kube.begin(name, { spec: specOn('cluster', model, { scaling: exactly(2) }, more), strategy: { type: 'immediate' } });
const succeeded = async (id: string) =>
  expect(await kube.stack.operation(id, undefined, READY_MS)).toMatchObject({ status: 'succeeded' });

/**
 * Expects each instance of a deployment's history to be one unit of its first
 * generation, whose engine was started once.
 */
async function expectOneUnitEach(name: string, count: number): Promise<void> {
  const instances = await kube.instancesOf(name);
  const units = await kube.unitsOf(instances);
  expect(instances).toHaveLength(count);
  expect(new Set(units.map(({ metadata }) => metadata.labels?.['slipway.dev/instance'])).size).toBe(count);
  expect(units.map(generationOf)).toEqual(units.map(() => '1'));
  expect(units).toHaveLength(count);
  expect(instances.map(({ generation, restarts }) => [generation, restarts])).toEqual(instances.map(() => [1, 0]));
}

/** Waits until this many workers lead or are candidates: each has a session of its own for each target. */
async function candidates(workers: number): Promise<void> {
  const { stack } = kube;
  const { data: targets } = await stack.slipway().targets.list();
  let sessions: unknown[];
  const areThere = async () => {
    sessions = await stack.query(
      `select from pg_stat_activity where application_name = 'slipway-target' and datname = current_database()`,
    );
    return sessions.length === workers * targets.length;
  };
  const what = `${workers} to lead ${targets.length} targets, or wait for it`;
  await until(what, areThere, READY_MS, () => `${sessions.length} sessions ${stack.logOf('worker')}`);
}

/** Checks that a rollout continues under load while the leader is lost. */
async function survives(lose: (leader: number) => Promise<unknown>): Promise<void> {
  const { stack } = kube;
  const name = await kube.serving(2);
  const before = (await kube.leader())!;
  const answers = await kube.underLoad(name, async () => {
    const id = await begun(name, 'm-next');
    const isUnderWay = async () => (await kube.instancesOf(name)).some(({ state }) => state === 'starting');
    await until('the next revision to start', isUnderWay, READY_MS);
    await lose(before);
    const hasOther = async () => ![undefined, before].includes(await kube.leader());
    await until('another to lead', hasOther, TAKEOVER_MS, () => stack.logOf('worker', 1));
    await succeeded(id);
    await kube.serves(name, `${name}-00002`);
  });
  expect(lost(answers)).toEqual([]);
  await expectOneUnitEach(name, 4);
}

kubeIt('of two workers the other one leads when the leader is killed, and nothing is lost or made twice', async () => {
  const { stack } = kube;
  await candidates(1);
  stack.spawn('worker', 1);
  await candidates(2);
  await survives(() => stack.kill('worker', 0));
  stack.spawn('worker', 0);
  await candidates(2);
});

kubeIt('of two workers one leads again when the connection of the leader is cut', async () => {
  await survives((leader) => kube.stack.query('select pg_terminate_backend($1)', [leader]));
});

kubeIt(
  'of two workers the other one leads when the leader is suspended, which does no harm when it resumes',
  async () => {
    const { stack } = kube;
    await stack.kill('worker', 1);
    await candidates(1);
    await until('the only one to lead', async () => (await kube.leader()) !== undefined, READY_MS);
    stack.spawn('worker', 1);
    await candidates(2);
    await survives(async (leader) => {
      stack.signal('worker', 'SIGSTOP', 0);
      const isEnded = async () =>
        (await stack.query('select from pg_stat_activity where pid = $1', [leader])).length === 0;
      await until('Postgres to end its silent session', isEnded, GONE_MS);
    });
    stack.signal('worker', 'SIGCONT', 0);
    await candidates(2);
  },
);

for (const [point, units] of [
  ['before-unit', 0],
  ['after-unit', 1],
] as const)
  kubeIt(
    `a worker that is killed ${point} of a start leaves a state from which its successor makes one unit`,
    async () => {
      const { stack } = kube;
      await Promise.all([stack.kill('worker', 0), stack.kill('worker', 1)]);
      const name = await kube.deployment();
      const spec = specOn('cluster', 'm', { scaling: exactly(1) }, { engine: 'keyed' });
      const id = await kube.begin(name, { spec, strategy: { type: 'immediate' } });
      stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: pointOf(point) });
      await stack.paused('worker', 0, pointOf(point));
      expect(await kube.unitsOf(await kube.instancesOf(name))).toHaveLength(units);
      await stack.kill('worker');
      stack.spawn('worker');
      await succeeded(id);
      await kube.serves(name, `${name}-00001`);
      await expectOneUnitEach(name, 1);
    },
  );

for (const [point, replicas] of [
  ['before-stop', 1],
  ['after-stop', 0],
] as const)
  kubeIt(`a worker that is killed ${point} of a unit leaves nothing that runs`, async () => {
    const { stack } = kube;
    const name = await kube.serving(1);
    const instances = await kube.instancesOf(name);
    await stack.kill('worker');
    stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: pointOf(point) });
    await stack.slipway().deployments.delete(name);
    await stack.paused('worker', 0, pointOf(point));
    expect((await kube.unitsOf(instances)).map((unit) => unit['spec'].replicas)).toEqual([replicas]);
    await stack.kill('worker');
    stack.spawn('worker');
    await until('its pod to be gone', async () => (await kube.podsOf(instances)).length === 0, GONE_MS);
    const isForgotten = () => isRefused(stack.slipway().deployments.get(name), 'deployment_not_found');
    await until('it to be deleted', isForgotten, GONE_MS);
    expect((await kube.unitsOf(instances)).map((unit) => [generationOf(unit), unit['spec'].replicas])).toEqual([
      ['1', 0],
    ]);
  });

kubeIt('a stack that stops with its engines ends processes, and does not touch the cluster', async () => {
  const { stack } = kube;
  const [here, there] = [await kube.serving(1, 'local'), await kube.serving(1)];
  const [process] = stack.simulatorStarts('m').slice(-1);
  const seen = async () => {
    const instances = await kube.instancesOf(there);
    const shown = instances.map(({ id, state, generation, restarts }) => ({ id, state, generation, restarts }));
    const units = (await kube.unitsOf(instances)).map(({ metadata, spec }) => [
      metadata.uid,
      metadata.generation,
      spec,
    ]);
    return { shown, units, pods: (await kube.podsOf(instances)).map(({ metadata }) => metadata.uid) };
  };
  const before = await seen();
  await stack.kill('worker');
  const worker = stack.spawn('worker', 0, {}, { channel: ['ipc'] });
  await once(worker, 'message');
  const answers = await kube.underLoad(there, async () => {
    worker.send('slipway:stop-engines');
    await stack.kill('worker', 0, 'SIGTERM');
    expect(isAlive(process!.pid)).toBe(false);
    expect(await seen()).toEqual(before);
    stack.spawn('worker');
    await until('the process to be back', async () => (await kube.chat(here)).status === 200, READY_MS);
    expect(await seen()).toEqual(before);
  });
  expect(lost(answers)).toEqual([]);
});
