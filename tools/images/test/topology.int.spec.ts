import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Load, RepeatedCalls } from '@slipway/platform-testing/load';
import { Slipway, type BodyOf, type Operation } from '@slipway/sdk';
import { buildImages, missing, ROOT, takeMachine } from './builder.js';
import { frontOf } from './compose.js';
import { Project } from './project.js';
import { Simulators } from './simulators.js';
import { Topology } from './topology.js';

/** With a build of the images, on a busy machine. */
jest.setTimeout(60 * 60_000);

const { gateway: HOST } = frontOf(path.join(ROOT, 'docker/compose.yaml'));
const MODELS = { llama: `http://${HOST}:8801`, 'llama-next': `http://${HOST}:8802` };
type Model = keyof typeof MODELS;

const IMMEDIATE = { type: 'immediate' };
const CANARY = {
  type: 'canary',
  steps: [
    { traffic_percent: 50, soak_seconds: 2 },
    { traffic_percent: 100, soak_seconds: 0 },
  ],
};
const PATIENCE_MS = 180_000;

const absent = missing('buildah', 'debootstrap', 'haproxy', 'redis-server', 'redis-cli', 'psql', 'pg_isready');
const describeTopology = absent.length === 0 ? describe : describe.skip;
if (absent.length > 0) it.skip(`the services of compose.yaml work together (missing: ${absent.join(', ')})`, () => {});

describeTopology('the services of compose.yaml: 2 api, 2 worker, 2 gateway, Postgres, Redis, HAProxy', () => {
  let release: () => void;
  let project: Project;
  let topology: Topology;
  const simulators = new Simulators();
  let token: string;
  let gatewayUrl: string;
  /** Retries nothing. */
  let strict: Slipway;
  /** As a program of a user would: with the retries of the SDK. */
  let patient: Slipway;

  beforeAll(async () => {
    release = await takeMachine();
    buildImages();
    project = new Project(Object.values(MODELS), { SLIPWAY_LEASE_SECONDS: '2' });
    topology = new Topology(project);
    await Promise.all([
      simulators.start(HOST, 8801, 'llama'),
      simulators.start(HOST, 8802, 'llama-next'),
      topology.up(),
    ]);
    token = project.variables['SLIPWAY_BOOTSTRAP_TOKEN']!;
    const edge = topology.addressOf('edge-1');
    gatewayUrl = `http://${edge}:7080`;
    const options = { baseUrl: `http://${edge}:7070`, token };
    strict = new Slipway({ ...options, maxRetries: 0 });
    patient = new Slipway(options);
    await until('HAProxy has found the api', () => strict.deployments.list().then(() => true));
  });
  afterAll(async () => {
    await topology?.down();
    await simulators.stop();
    project?.remove();
    release?.();
  });

  /** @returns the id of the operation */
  async function begin(name: string, model: Model, strategy: object): Promise<string> {
    const spec = { model: { id: model }, runtime: { target: 'adopted' }, endpoint: { base_url: MODELS[model] } };
    const body = { spec, strategy, analysis: { mode: 'none' } } as BodyOf<'createRollout'>;
    return (await patient.deployments.rollouts.create(name, body)).operation.id;
  }

  async function ended(id: string): Promise<Operation> {
    let operation: Operation | undefined;
    await until(`operation ${id} ends`, async () => {
      operation = await patient.operations.get(id);
      return operation.completed_at !== null;
    });
    expect([id, operation!.status]).toEqual([id, 'succeeded']);
    return operation!;
  }

  const rollOut = async (name: string, model: Model, strategy: object): Promise<Operation> =>
    ended(await begin(name, model, strategy));

  /** The revision that answered, or undefined. */
  async function chat(model: string): Promise<string | undefined> {
    const answer = await fetch(`${gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.text();
    return answer.ok ? (answer.headers.get('x-slipway-revision') ?? undefined) : undefined;
  }

  const answeredBy = (name: string, revision: string): Promise<void> =>
    until(`${revision} answers`, async () => (await chat(name)) === revision);

  it('the main job: create a deployment, roll out, answer, roll out again, roll back', async () => {
    await strict.deployments.create({ name: 'chat' });
    await rollOut('chat', 'llama', IMMEDIATE);
    await answeredBy('chat', 'chat-00001');
    await rollOut('chat', 'llama-next', CANARY);
    await answeredBy('chat', 'chat-00002');
    const { operation } = await strict.deployments.rollbacks.create('chat', { reason: 'a test' });
    await ended(operation.id);
    await answeredBy('chat', 'chat-00001');
  });

  describe('each process', () => {
    const names = ['api-1', 'api-2', 'gateway-1', 'gateway-2', 'worker-1', 'worker-2'];
    const containers = () => names.map((name) => topology.containerOf(name));
    /** The number of the folder in the file system of this machine. */
    const homeOf = (name: string) => statSync(`/proc/${topology.containerOf(name).pid}/root/var/lib/slipway`).ino;

    it('has a root and a network of its own', () => {
      expect(topology.containersOf('api', 'worker', 'gateway').sort()).toEqual(names);
      for (const kind of ['net', 'mnt', 'pid'] as const)
        expect(new Set(containers().map((container) => container.namespace(kind))).size).toBe(names.length);
    });

    it('has the variables of its image and of compose.yaml, and no others', () => {
      // Shells and `ip` add these.
      const added = /^(PWD|OLDPWD|SHLVL|_)=/;
      for (const name of names) {
        const variables = topology.containerOf(name).environment.filter((line) => !added.test(line));
        expect([name, variables.sort()]).toEqual([name, topology.environmentOf(name).sort()]);
      }
    });

    it('has the volumes of compose.yaml: one for each gateway, and one for all api and workers', () => {
      expect(homeOf('gateway-1')).not.toBe(homeOf('gateway-2'));
      expect(new Set(['api-1', 'api-2', 'worker-1', 'worker-2'].map(homeOf)).size).toBe(1);
    });
  });

  it('a second api, worker and gateway really share the work', async () => {
    const metrics = {
      api: 'slipway_http_request_duration_seconds_count',
      worker: 'slipway_operations_ended_total',
      gateway: 'slipway_gateway_requests_total',
    };
    const counts = async (service: keyof typeof metrics) =>
      Promise.all(topology.containersOf(service).map((name) => topology.metric(name, metrics[service], token)));
    const services = Object.keys(metrics) as (keyof typeof metrics)[];
    const before = new Map<string, number[]>();
    for (const service of services) before.set(service, await counts(service));

    const names = Array.from({ length: 24 }, (_, index) => `shared-${index}`);
    for (const name of names) await strict.deployments.create({ name });
    await Promise.all(names.map((name) => rollOut(name, 'llama', IMMEDIATE)));
    for (let count = 0; count < 100; count += 1) await Promise.all([chat('chat'), strict.deployments.get('chat')]);

    for (const service of services) {
      const work = (await counts(service)).map((count, index) => count - before.get(service)![index]!);
      const total = work.reduce((sum, count) => sum + count, 0);
      console.log(`${service}: ${work.join(' and ')} of ${total}`);
      expect(work).toHaveLength(2);
      for (const count of work) expect([service, count / total > 0.2]).toEqual([service, true]);
    }
  });

  describe('under load', () => {
    let load: Load;
    let calls: RepeatedCalls;
    beforeAll(async () => {
      await answeredBy('chat', 'chat-00001');
      load = new Load(gatewayUrl, token, 'chat', 20);
      const { deployments } = strict;
      calls = new RepeatedCalls(
        [() => deployments.get('chat'), () => deployments.policy.set('chat', { mode: 'observe' })],
        100,
      );
      await strict.deployments.create({ name: 'busy' });
      await rollOut('busy', 'llama', IMMEDIATE);
    });

    it.each(['api', 'worker', 'gateway'])('a rolling replacement of each %s loses nothing', async (service) => {
      const [sent, called] = [load.answers.length, calls.results.length];
      const old = topology.containersOf(service);
      for (const [index, name] of old.entries()) {
        const rollout = begin('busy', index === 0 ? 'llama-next' : 'llama', CANARY);
        const started = Date.now();
        expect([name, await topology.replace(name)]).toEqual([name, 0]);
        console.log(`${name} was replaced in ${((Date.now() - started) / 1_000).toFixed(1)} s`);
        await ended(await rollout);
      }
      expect(topology.containersOf(service)).toHaveLength(2);
      expect(topology.containersOf(service).filter((name) => old.includes(name))).toEqual([]);
      // A request that began before the end of the last replacement may fail a little later.
      await delay(5_000);
      const answers = load.answers.slice(sent);
      const results = calls.results.slice(called);
      const lost = answers.filter(({ status, isCut }) => status !== 200 || isCut);
      const failed = results.filter(({ error }) => error !== undefined);
      console.log(
        `${service}: ${lost.length} of ${answers.length} inference requests and ${failed.length} of ${results.length} calls of the api lost`,
      );
      expect([lost, failed]).toEqual([[], []]);
      expect(answers.length).toBeGreaterThan(100);
      expect(results.length).toBeGreaterThan(50);
    });

    afterAll(async () => {
      await load?.stop();
      await calls?.stop();
    });
  });

  describe('kill -9', () => {
    const rollouts: string[] = [];
    const models: Model[] = ['llama', 'llama-next'];
    beforeAll(async () => {
      await strict.deployments.create({ name: 'killed' });
      rollouts.push((await rollOut('killed', 'llama', IMMEDIATE)).id);
    });

    const victims = ['api', 'worker', 'gateway'].flatMap((service) => [0, 1].map((index) => [service, index] as const));
    it.each([...victims, ['postgres', 0], ['redis', 0], ['edge', 0]] as const)(
      'of %s (number %i) in a rollout: it is restarted, and the rollout succeeds',
      async (service, index) => {
        // The same specification is the same revision: they alternate.
        const revision = rollouts.length % 2;
        const id = await begin('killed', models[revision]!, CANARY);
        rollouts.push(id);
        await until('it soaks', async () => (await patient.operations.get(id)).current_step === 'soak:1');
        const started = Date.now();
        const name = topology.containersOf(service)[index]!;
        await topology.kill(name);
        const healthy = Date.now() - started;
        await ended(id);
        await answeredBy('killed', `killed-0000${revision + 1}`);
        console.log(`${name}: healthy again after ${(healthy / 1_000).toFixed(1)} s`);
      },
    );

    it('nothing is lost or doubled, and the audit log is whole', async () => {
      const { data: operations } = await patient.operations.list({ limit: 200 });
      const own = operations.filter(({ resource_name: name }) => name === 'killed');
      expect(own.map(({ id }) => id).sort()).toEqual([...rollouts].sort());
      const { data: events } = await patient.deployments.events.list('killed', {
        type: 'rollout.promoted',
        limit: 200,
      });
      const promoted = events.map(operationOf);
      expect(promoted.sort()).toEqual([...rollouts].sort());
      expect(await topology.run('tools')).toMatchObject({ code: 0 });
    });
  });
});

function operationOf(event: { data?: unknown }): string {
  return (event.data as { operation_id: string }).operation_id;
}

/** Resolves when the check is true. Errors count as false, because processes are away in these tests. */
async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  let problem = '';
  while (Date.now() < end) {
    const isDone = await check().catch((error: Error) => {
      problem = error.message;
      return false;
    });
    if (isDone) return;
    await delay(50);
  }
  throw new Error(`not within ${PATIENCE_MS} ms: ${what} ${problem}`);
}
