import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import type { Oddity } from '../../test/stub-api/index.js';
import { DriverBench, engineConfig, instanceSpec, NAMESPACE, until } from '../../test/driver-bench.js';
import { DEPLOYMENTS, PDBS, PODS, SERVICES } from '../api/kinds.js';
import type { Deployment, Pod } from '../api/objects.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

let bench: DriverBench;
let driver: KubernetesDriver;
beforeEach(async () => {
  bench = await DriverBench.create();
  bench.cluster.isHealthy = true;
  driver = bench.driver();
});
afterEach(async () => {
  await bench.close();
});

const store = () => bench.cluster.api.store;
const units = () => store().list<Deployment>(DEPLOYMENTS, NAMESPACE);
const onlyPod = () => store().list<Pod>(PODS, NAMESPACE)[0]!;

async function serving(spec = instanceSpec()) {
  await driver.provision(spec);
  return observeUntil(driver, spec, 'ready');
}

describe('while the API server is away', () => {
  it('a ready instance stays ready, no absence is reported, and everything is fine soon afterwards', async () => {
    driver = bench.driver({}, { health: { limitMs: 300, roundMs: 200 } });
    const spec = instanceSpec();
    const before = await serving(spec);
    const hung = bench.cluster.api.odd({}, { silent: true });
    bench.cluster.api.freezeWatches();
    await until(
      () => driver.health(),
      ({ state }) => state === 'degraded',
    );
    expect(driver.health().message).toContain('has not responded');
    expect(await driver.observe(spec)).toEqual(before);
    const nobody = { ...spec, instanceId: 'ins_unheard' };
    const asked = driver.observe(nobody).then(
      () => 'an answer',
      () => 'an error',
    );
    const known = await Promise.race([asked, new Promise((done) => setTimeout(() => done('no answer'), 500))]);
    expect(known).not.toBe('an answer');
    hung();
    await until(
      () => driver.health(),
      ({ state }) => state === 'ok',
    );
    expect((await driver.observe(spec)).state).toBe('ready');
  });

  it.each<[string, Oddity]>([
    ['cuts the line', { cut: true }],
    ['is too busy', { status: 429 }],
    ['is broken', { status: 500 }],
  ])(
    'a start on a server that %s is reported as the fault of the target, and succeeds later',
    async (_what, oddity) => {
      const spec = instanceSpec();
      const healed = bench.cluster.api.odd({ verb: 'create', plural: DEPLOYMENTS.plural }, oddity);
      await expect(driver.provision(spec)).rejects.toMatchObject({ reason: 'target_unavailable' });
      healed();
      expect((await serving(spec)).state).toBe('ready');
    },
  );

  it('a driver that has never reached it reports that it cannot observe', async () => {
    bench.cluster.api.odd({}, { status: 503 });
    const deaf = bench.driver({}, { syncMs: 200 });
    await expect(deaf.observe(instanceSpec())).rejects.toThrow(/not known yet.*503/);
    await expect(deaf.list()).rejects.toThrow('not known yet');
    await expect(deaf.terminate('ins_0190c0de')).rejects.toThrow('503');
    expect(deaf.health().state).toBe('degraded');
  });

  it('the known state is reported while everything is listed again', async () => {
    const spec = instanceSpec();
    const before = await serving(spec);
    const hung = bench.cluster.api.odd({ verb: 'list' }, { silent: true });
    bench.cluster.api.forgetRequests();
    bench.cluster.api.compact();
    bench.cluster.api.failWatches();
    await until(
      () => bench.cluster.api.requests.flatMap(({ verb, plural }) => (verb === 'list' ? plural : [])),
      (lists) => ['deployments', 'pods'].every((plural) => lists.includes(plural)),
    );
    expect(await driver.observe(spec)).toEqual(before);
    hung();
  });

  it('an absence is confirmed by a request, even if the watch has not reported the unit', async () => {
    await driver.list();
    bench.cluster.api.freezeWatches();
    const other = bench.driver();
    const spec = instanceSpec();
    await other.provision(spec);
    expect((await driver.observe(spec)).state).not.toBe('absent');
  });

  it('an API server that has lost everything gets each unit again, once', async () => {
    const spec = instanceSpec();
    await serving(spec);
    bench.cluster.api.wipe();
    await observeUntil(driver, spec, 'absent');
    await driver.provision({ ...spec, generation: 2 });
    await driver.provision({ ...spec, generation: 2 });
    expect(units()).toHaveLength(1);
  });
});

describe('changes of objects by others', () => {
  it('an evicted pod moves: it is withdrawn at once, without a restart, with the reason of the cluster', async () => {
    const spec = instanceSpec();
    const before = await serving(spec);
    const told = new Promise<void>((done) => driver.onChange(() => done()));
    bench.cluster.evict(onlyPod());
    await told;
    const isOld = ({ state, incarnation }: Observation) => state === 'ready' && incarnation === before.incarnation;
    await until(
      () => driver.observe(spec),
      (seen) => !isOld(seen),
    );
    const after = await observeUntil(driver, spec, 'ready');
    expect(after).toMatchObject({ restarts: 0, lastExit: { reason: 'evicted' } });
    expect(after.incarnation).not.toBe(before.incarnation);
  });

  it('a pod that another client deletes is replaced, with the reason deleted', async () => {
    const spec = instanceSpec();
    const before = await serving(spec);
    const { name } = onlyPod().metadata;
    bench.cluster.evict(onlyPod(), '');
    store().change<Pod>(PODS, NAMESPACE, name, (pod) => void (pod.status = { ...pod.status, conditions: [] }));
    const after = await until(
      () => driver.observe(spec),
      ({ state, incarnation }) => state === 'ready' && incarnation !== before.incarnation,
    );
    expect(after.lastExit).toMatchObject({ reason: 'deleted' });
  });

  it('a unit that another client deletes is absent once its pods have ended, and the next generation waits for them', async () => {
    const spec = instanceSpec();
    await serving(spec);
    let letEnd = (): void => undefined;
    bench.cluster.mayEnd = new Promise((resolve) => (letEnd = resolve));
    store().remove(DEPLOYMENTS, NAMESPACE, units()[0]!.metadata.name);
    const next = { ...spec, generation: 2 };
    await driver.provision(next);
    const running = bench.cluster.podsOf(spec.instanceId);
    expect(new Set(running.map(({ metadata }) => metadata.labels?.['slipway.dev/generation']))).toEqual(new Set(['1']));
    letEnd();
    await observeUntil(driver, spec, 'absent');
    await driver.provision(next);
    await observeUntil(driver, next, 'ready');
    expect(bench.cluster.podsOf(spec.instanceId)).toHaveLength(1);
  });

  it('a unit that another client scales or edits is reported, stays one instance, and is replaced if the operator wants it', async () => {
    const spec = instanceSpec();
    const before = await serving(spec);
    const { name } = units()[0]!.metadata;
    store().change<Deployment>(DEPLOYMENTS, NAMESPACE, name, (unit) => void (unit.spec!.replicas = 3));
    const drifted = await until(
      () => driver.observe(spec),
      ({ drift }) => drift !== undefined,
    );
    expect(drifted).toMatchObject({ state: 'ready', incarnation: before.incarnation });
    expect(drifted.drift).toContain('3 replicas');
    driver.reconfigure({ ...(driver as any).config, on_drift: 'replace' })();
    await driver.observe(spec);
    await observeUntil(driver, spec, 'exited');
    const next = { ...spec, generation: 2 };
    await until(
      async () => {
        await driver.provision(next);
        return driver.observe(next);
      },
      ({ state }) => state === 'ready',
    );
    expect(bench.cluster.podsOf(spec.instanceId)).toHaveLength(1);
  });

  it('a change of a unit is reported until it is undone, also by a process that starts then', async () => {
    const spec = instanceSpec();
    await serving(spec);
    const { name } = units()[0]!.metadata;
    const scale = (replicas: number) =>
      store().change<Deployment>(
        DEPLOYMENTS,
        NAMESPACE,
        name,
        ({ spec }) => void (spec!.replicas = replicas),
        'kubectl-scale',
      );
    scale(3);
    await until(
      () => driver.observe(spec),
      ({ drift }) => drift?.includes('it has 3 replicas (spec.replicas by kubectl-scale)') === true,
    );
    await until(
      () => units()[0]!.metadata.annotations,
      (notes) => notes?.['slipway.dev/created-spec'] !== undefined,
    );
    scale(1);
    const isOver = ({ drift }: Observation) => drift === undefined;
    await until(() => driver.observe(spec), isOver);
    await until(() => bench.driver().observe(spec), isOver);
    expect((await driver.observe(spec)).state).toBe('ready');
  });

  it.each(['slipway.dev/instance', 'slipway.dev/installation', 'slipway.dev/generation', 'slipway.dev/tenant'])(
    'a unit without its label %s gets it again, and no other unit is made',
    async (label) => {
      const spec = instanceSpec();
      await serving(spec);
      const { name } = units()[0]!.metadata;
      const before = units()[0]!.metadata.labels;
      store().change<Deployment>(
        DEPLOYMENTS,
        NAMESPACE,
        name,
        ({ metadata }) => void (metadata.labels![label] = '77'),
        'kubectl-label',
      );
      await until(
        async () => {
          expect((await driver.observe(spec)).state).toBe('ready');
          return units()[0]!.metadata.labels;
        },
        (labels) => labels?.[label] === before?.[label],
      );
      expect(await driver.observe(spec)).toMatchObject({ state: 'ready', generation: 1 });
      expect(units()).toHaveLength(1);
    },
  );

  it('a unit of another instance that has the name is not taken', async () => {
    const spec = instanceSpec();
    await serving(spec);
    const { name } = units()[0]!.metadata;
    store().change<Deployment>(DEPLOYMENTS, NAMESPACE, name, ({ metadata, spec: unit }) => {
      delete metadata.labels!['slipway.dev/instance'];
      unit!.template!.metadata!.labels!['slipway.dev/instance'] = 'ins_another';
    });
    await observeUntil(driver, spec, 'stopping');
    await driver.observe(spec);
    expect(units()[0]!.metadata.labels).not.toHaveProperty('slipway.dev/instance');
  });

  it.each(['slipway.dev/instance', 'slipway.dev/target', 'slipway.dev/generation'])(
    'a pod without its label %s is reported with the command that removes it, until it is gone',
    async (label) => {
      driver = bench.driver({}, { watch: { shorterRetries: 100 } });
      const spec = instanceSpec();
      const before = await serving(spec);
      const { name } = onlyPod().metadata;
      bench.cluster.release(onlyPod(), label);
      const seen = await until(
        () => driver.observe(spec),
        ({ state, drift, incarnation }) =>
          state === 'ready' && drift !== undefined && incarnation !== before.incarnation,
      );
      expect(seen.drift).toMatch(
        new RegExp(`pod ${name} lost the labels.*: kubectl -n ${NAMESPACE} delete pod ${name}$`),
      );
      expect(seen).toMatchObject({ restarts: 0, lastExit: { reason: 'deleted' } });
      store().remove(PODS, NAMESPACE, name);
      await until(
        () => driver.observe(spec),
        ({ drift }) => drift === undefined,
      );
    },
  );

  it('pods that end need no request to find out that they lost no labels', async () => {
    driver = bench.driver({}, { watch: { shorterRetries: 100 } });
    const spec = instanceSpec();
    await serving(spec);
    bench.cluster.api.forgetRequests();
    bench.cluster.evict(onlyPod(), '');
    await observeUntil(driver, spec, 'ready');
    await new Promise((done) => setTimeout(done, 100));
    expect(bench.cluster.api.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'pods')).toEqual([]);
  });

  it('objects of another installation and of another target in the namespace are never changed or reported', async () => {
    const other = bench.driver({}, {}, '7a0ef0a4-1111-4222-8333-444455556666');
    const third = bench.driver({ name: 'third' });
    const foreign = instanceSpec({ instanceId: 'ins_aaaa1111' });
    const beside = instanceSpec({ instanceId: 'ins_bbbb2222' });
    await other.provision(foreign);
    await third.provision(beside);
    await observeUntil(other, foreign, 'ready');
    await observeUntil(third, beside, 'ready');
    expect(await driver.list()).toEqual([]);
    expect(await driver.terminate(foreign.instanceId)).toBe('gone');
    expect(await driver.terminate(beside.instanceId)).toBe('gone');
    expect((await driver.observe(foreign)).state).toBe('absent');
    expect((await other.observe(foreign)).state).toBe('ready');
    expect((await third.list()).map(({ instanceId }) => instanceId)).toEqual([beside.instanceId]);
  });
});

describe('the end of a unit', () => {
  it('is recorded by the stopped unit until it is old, which is then deleted by its uid', async () => {
    const spec = instanceSpec();
    await serving(spec);
    await terminateUntilGone(driver, spec.instanceId);
    await driver.list();
    expect(units()).toHaveLength(1);
    const { name } = units()[0]!.metadata;
    store().change<Deployment>(DEPLOYMENTS, NAMESPACE, name, ({ metadata }) => {
      metadata.annotations = { 'slipway.dev/stopped-at': new Date(Date.now() - 3_601_000).toISOString() };
    });
    await until(
      async () => {
        await driver.list();
        return units();
      },
      (left) => left.length === 0,
    );
    const removal = bench.cluster.api.requests.find(
      ({ verb, plural }) => verb === 'delete' && plural === 'deployments',
    );
    expect(removal?.body.preconditions.uid).toEqual(expect.any(String));
  });

  it('waits for pods on a lost node until their grace period and an extra time are over, and for no other pod', async () => {
    driver = bench.driver({}, { lostAfterMs: 300 });
    const spec = instanceSpec();
    await serving(spec);
    bench.cluster.isNodeSilent = true;
    expect(await driver.terminate(spec.instanceId)).toBe('stopping');
    await until(onlyPod, ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await until(
      () => driver.observe(spec),
      ({ state }) => state === 'stopping',
    );
    expect(await driver.terminate(spec.instanceId)).toBe('stopping');
    await new Promise((done) => setTimeout(done, 1_500));
    // The node still answers, so a process there may still hold its accelerator.
    expect(await driver.terminate(spec.instanceId)).toBe('stopping');
    store().change<Pod>(PODS, NAMESPACE, onlyPod().metadata.name, (pod) => {
      const condition = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
      pod.status = { ...pod.status, conditions: [...(pod.status?.conditions ?? []), condition] };
    });
    expect(await driver.terminate(spec.instanceId)).toBe('stopping');
    await terminateUntilGone(driver, spec.instanceId);
    expect(store().list(PODS, NAMESPACE)).toHaveLength(1);
  });

  it('needs no request to the server while the watch shows its pods', async () => {
    const spec = instanceSpec();
    await serving(spec);
    bench.cluster.isNodeSilent = true;
    await driver.terminate(spec.instanceId);
    bench.cluster.api.forgetRequests();
    for (let time = 0; time < 20; time += 1) expect(await driver.terminate(spec.instanceId)).toBe('stopping');
    expect(bench.cluster.api.requests.filter(({ verb }) => verb === 'list')).toEqual([]);
  });
});

describe('shared objects of a revision', () => {
  it('are created with the first unit, written once by all workers together, and removed with the last unit', async () => {
    const options = { revisions: { sweepMs: 100 } };
    driver = bench.driver({}, options);
    const spec = instanceSpec();
    await serving(spec);
    // The first observation that knows the existing objects writes them.
    await until(
      async () => {
        await driver.observe(spec);
        return [store().list(SERVICES, NAMESPACE).length, store().list(PDBS, NAMESPACE).length];
      },
      ([services, budgets]) => services === 1 && budgets === 1,
    );
    const next = bench.driver({}, options);
    bench.cluster.api.forgetRequests();
    await next.observe(spec);
    await new Promise((done) => setTimeout(done, 200));
    expect(bench.cluster.api.requests.filter(({ verb }) => verb === 'apply')).toEqual([]);
    await next.close();
    await terminateUntilGone(driver, spec.instanceId);
    store().remove(DEPLOYMENTS, NAMESPACE, units()[0]!.metadata.name);
    await until(
      async () => {
        await driver.list();
        return store().list(SERVICES, NAMESPACE).length + store().list(PDBS, NAMESPACE).length;
      },
      (left) => left === 0,
    );
  });

  it('are created again when another client removes them', async () => {
    driver = bench.driver({}, { revisions: { sweepMs: 100, paceMs: 0 } });
    const spec = instanceSpec();
    await serving(spec);
    const service = await until(
      async () => {
        await driver.observe(spec);
        return store().list(SERVICES, NAMESPACE)[0];
      },
      (one) => one !== undefined,
    );
    store().remove(SERVICES, NAMESPACE, service!.metadata.name);
    await until(
      async () => {
        await Promise.all([driver.list(), driver.observe(spec)]);
        return store().list(SERVICES, NAMESPACE).length;
      },
      (count) => count === 1,
    );
    const removed = bench.cluster.api.requests.filter(({ verb }) => verb === 'delete');
    expect(removed).toEqual([]);
  });
});

describe('the Service of a unit', () => {
  it('is not created again for a deleted unit, although others of its revision exist', async () => {
    driver = bench.driver({ reach: 'service' }, { revisions: { paceMs: 0 } });
    const spec = instanceSpec();
    await serving(spec);
    const [first] = units().map(({ metadata }) => metadata.name);
    const names = () =>
      store()
        .list(SERVICES, NAMESPACE)
        .map(({ metadata }) => metadata.name);
    await until(
      async () => {
        await driver.observe(spec);
        return names();
      },
      (all) => all.includes(first!),
    );
    // The objects that a unit owns are deleted with it.
    store().remove(DEPLOYMENTS, NAMESPACE, first!);
    store().remove(SERVICES, NAMESPACE, first!);
    await observeUntil(driver, spec, 'absent');
    const next = { ...spec, generation: 2 };
    await serving(next);
    const [second] = units().map(({ metadata }) => metadata.name);
    await until(
      async () => {
        await Promise.all([driver.list(), driver.observe(next)]);
        return names();
      },
      (all) => all.includes(second!),
    );
    expect(names()).not.toContain(first);
  });
});

describe('a namespace of a tenant', () => {
  it('has its units, and keeps track of them after the namespace is removed from the file', async () => {
    const namespaces = { default: NAMESPACE, by_tenant: { acme: 'models-acme' } };
    driver = bench.driver({ namespaces });
    const spec = instanceSpec();
    await serving(spec);
    expect(store().list(DEPLOYMENTS, 'models-acme')).toHaveLength(1);
    driver.reconfigure({ ...(driver as any).config, namespaces: { default: NAMESPACE, by_tenant: {} } })();
    expect((await driver.observe(spec)).state).toBe('ready');
    await terminateUntilGone(driver, spec.instanceId);
    expect(store().list(PODS, 'models-acme')).toEqual([]);
  });
});

describe('a namespace that cannot be read', () => {
  it('is reported, and does not affect the others', async () => {
    const allow = bench.cluster.api.forbid({ namespace: 'models-acme' });
    const namespaces = { default: NAMESPACE, by_tenant: { acme: 'models-acme' } };
    driver = bench.driver({ namespaces }, { syncMs: 200, health: { roundMs: 500 } });
    const mine = instanceSpec({ tenantName: 'globex' });
    await serving(mine);
    await terminateUntilGone(driver, mine.instanceId);
    expect((await driver.observe(mine)).state).toBe('exited');
    const lasting = { ...mine, instanceId: 'ins_cccc3333' };
    await serving(lasting);
    expect((await driver.list()).map(({ instanceId }) => instanceId)).toEqual([lasting.instanceId]);
    const forbidden = instanceSpec({ instanceId: 'ins_dddd4444' });
    await expect(driver.observe(forbidden)).rejects.toThrow('not known yet');
    await expect(driver.provision(forbidden)).rejects.toMatchObject({ reason: 'target_unavailable' });
    const { message } = await until(
      () => driver.health(),
      ({ state }) => state === 'degraded',
    );
    expect(message).toContain('in namespace models-acme');
    await until(
      () => store().list(SERVICES, NAMESPACE).length,
      (count) => count === 1,
    );
    allow();
    expect((await until(() => driver.observe(forbidden).catch(() => undefined), Boolean))?.state).toBe('absent');
    await serving(forbidden);
  });
});

describe('a key of an engine', () => {
  it('is in the Secret of its unit and nowhere else', async () => {
    driver = bench.driver({ engines: { sim: engineConfig({ env: { SIM_KEY: '{instance_key}' } }) } });
    const spec = instanceSpec({ instanceKey: 'A1b2'.repeat(10) + 'xyz' });
    await serving(spec);
    const shown = JSON.stringify([units(), store().list(PODS, NAMESPACE)]);
    expect(shown).not.toContain(spec.instanceKey);
    const secret = bench.cluster.api.requests.find(({ verb, plural }) => verb === 'create' && plural === 'secrets');
    expect(secret?.body).toMatchObject({
      immutable: true,
      metadata: { name: units()[0]!.metadata.name, ownerReferences: [{ uid: units()[0]!.metadata.uid }] },
    });
  });
});

describe('the waiting work of an engine', () => {
  it('is requested if the engine reports it, and otherwise unknown', async () => {
    const metrics = { path: '/metrics', waiting: 'sim_waiting' };
    driver = bench.driver({ engines: { sim: engineConfig({ metrics }), mute: engineConfig() } });
    const spec = instanceSpec();
    const { baseUrl = '' } = await serving(spec);
    expect(await driver.load(spec, baseUrl)).toEqual({ waiting: 3, kvUsage: null });
    expect(await driver.load({ ...spec, runtime: { ...spec.runtime, engine: 'mute' } }, baseUrl)).toBeUndefined();
    expect(await driver.load({ ...spec, runtime: { ...spec.runtime, engine: 'none' } }, baseUrl)).toBeUndefined();
    expect(await driver.load(spec, 'http://127.0.0.1:1')).toBeUndefined();
  });
});
