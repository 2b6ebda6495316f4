import { afterEach, expect, it, jest } from '@jest/globals';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Load } from '@slipway/platform-testing/load';
import { isAlive, ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(300_000);

const SIMULATOR = path.join(ROOT, 'tools/inference-sim/dist/main.js');
/** Records that it was started, and fails if there is a file "broken". */
const FRAIL = `echo started >> "$0/frail"; [ -e "$0/broken" ] && exit 3; exec node ${SIMULATOR} --port "$1" --model "$2" --start-log "$0/sim-starts.log"`;
const CONFIG = (home: string) => `
targets:
  - name: local
    kind: process
    max_instances: 9
    engines:
      sim:
        command: ["node", ${JSON.stringify(SIMULATOR)}, "--port", "{port}", "--model", "{model.id}", "--start-log", "${home}/sim-starts.log"]
        ready: { path: /health, timeout_seconds: 60 }
        args: { ttft_ms: "--ttft-ms={}", startup_ms: "--startup-ms={}" }
      frail:
        command: ["sh", "-c", ${JSON.stringify(FRAIL)}, "${home}", "{port}", "{model.id}"]
        ready: { path: /health, timeout_seconds: 60 }
`;

let stack: Stack;
afterEach(() => stack?.stop());

const alive = () => stack.simulatorStarts().filter(({ pid }) => isAlive(pid)).length;
const shown = () => stack.slipway().deployments.get('chat');
const scaled = async () => {
  const query = { type: 'deployment.scaled', order: 'asc', limit: 100 } as const;
  const { data: events } = await stack.slipway().deployments.events.list('chat', query);
  return events.map(({ data }) => data as { from: number; to: number; reason: string });
};
const asleep = () => until('it sleeps', async () => (await shown()).replicas.desired === 0 && alive() === 0, 60_000);

it('scales 0 → 1 → 4 → 0 with the load and loses no request; 50 requests during its sleep cause one start', async () => {
  stack = await Stack.start({ gateway: true, config: CONFIG });
  await stack.slipway().deployments.create({ name: 'chat' });
  const scaling = {
    min_replicas: 0,
    max_replicas: 4,
    target_in_flight: 1,
    scale_down_after_seconds: 30,
    idle_seconds: 10,
  };
  const spec = {
    model: { id: 'tiny' },
    runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 400, startup_ms: 1_000 } },
    scaling,
  };
  const begun = await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } });
  expect(await stack.operation(begun)).toMatchObject({ status: 'succeeded' });
  expect(await shown()).toMatchObject({ replicas: { desired: 1 }, scaling: null, effective_scaling: scaling });
  expect((await stack.slipway().deployments.instances.list('chat')).data).toMatchObject([{ is_serving: true }]);
  await asleep();
  expect(await shown()).toMatchObject({ state: 'active', replicas: { desired: 0, ready: 0 } });
  expect((await shown()).conditions).toContainEqual(
    expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Asleep' }),
  );

  // At most one instance, so that a second start would show.
  const { update, rollouts } = stack.slipway().deployments;
  const { effective_scaling } = await update('chat', { scaling: { max_replicas: 1 } });
  expect(effective_scaling).toEqual({ ...scaling, max_replicas: 1 });
  const before = stack.simulatorStarts().length;
  const ask = async () => {
    const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', max_tokens: 2, messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.text();
    return [answer.status, Number(answer.headers.get('x-slipway-held-ms')) > 0];
  };
  const answers = await Promise.all(Array.from({ length: 50 }, ask));
  expect(answers).toEqual(answers.map(() => [200, true]));
  expect(stack.simulatorStarts().length - before).toBe(1);
  await asleep();

  await update('chat', { scaling: null });
  const told = (await scaled()).length;
  // 0.4 s each, so a little more than four are in flight.
  const load = new Load(stack.gatewayUrl, stack.token, 'chat', 9);
  await until('four run', async () => (await shown()).replicas.ready === 4, 60_000);
  const served = load.answers.length;
  await until('it goes on', async () => load.answers.length > served + 40, 60_000);
  // Under load, a rollout does not begin with one instance.
  const more = { strategy: { type: 'immediate' as const }, keep_previous_seconds: 0 };
  const next = { ...spec, model: { id: 'small' } };
  expect((await rollouts.rehearse('chat', { spec: next, ...more })).capacity).toMatchObject({ needed: 4 });
  const rollout = await rollouts.create('chat', { spec: next, ...more });
  const { steps: done, ...record } = await stack.operation(rollout.operation.id);
  expect(record).toMatchObject({ status: 'succeeded' });
  expect(done.find(({ name }: { name: string }) => name === 'await_ready').message).toBe('4 of 4 instances are ready.');
  const { data: instances } = await stack.slipway().deployments.instances.list('chat');
  expect([...new Set(instances.filter((one) => one.is_serving).map((one) => one.revision))]).toEqual(['chat-00002']);
  const lost = (await load.stop()).filter(({ status, isCut }) => isCut || status !== 200);
  expect(lost).toEqual([]);
  await asleep();
  const steps = (await scaled()).slice(told);
  expect(steps[0]).toMatchObject({ from: 0, to: 1, reason: 'requests_held' });
  expect(steps.at(-1)).toMatchObject({ to: 0, reason: 'idle' });
  expect(Math.max(...steps.map(({ to }) => to))).toBe(4);
  const ways = steps.map(({ from, to }) => Math.sign(to - from));
  expect(ways.filter((way, index) => index > 0 && way !== ways[index - 1])).toHaveLength(1);
});

it('while a canary waits for an approval, the stable revision and the candidate scale with the load', async () => {
  stack = await Stack.start({ gateway: true, config: CONFIG });
  await stack.slipway().deployments.create({ name: 'chat' });
  const spec = (id: string) => ({
    model: { id },
    runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 400 } },
    scaling: { min_replicas: 1, max_replicas: 4, target_in_flight: 2 },
  });
  const first = await stack.rollOut('chat', { spec: spec('tiny'), strategy: { type: 'immediate' } });
  expect(await stack.operation(first)).toMatchObject({ status: 'succeeded' });
  const steps = [{ traffic_percent: 50, soak_seconds: 0, requires_approval: true }, { traffic_percent: 100 }];
  const strategy = { type: 'canary' as const, steps };
  const canary = await stack.rollOut('chat', { spec: spec('small'), strategy, analysis: { mode: 'none' } });
  const waits = async () => (await stack.slipway().operations.get(canary)).waiting_for === 'approval';
  await until('it waits for an approval', waits, 60_000);
  // Ten are in flight, half of them with each revision.
  const load = new Load(stack.gatewayUrl, stack.token, 'chat', 25);
  const serving = async () => {
    const { data } = await stack.slipway().deployments.instances.list('chat');
    return ['chat-00001', 'chat-00002'].map(
      (name) => data.filter(({ revision, is_serving }) => is_serving && revision === name).length,
    );
  };
  await until('both have three', async () => (await serving()).every((count) => count >= 3), 60_000);
  expect(await waits()).toBe(true);
  expect((await load.stop()).filter(({ status, isCut }) => isCut || status !== 200)).toEqual([]);
});

it('a sleeping revision is given the traffic, rolled back to, qualified and published: a request wakes it', async () => {
  stack = await Stack.start({ gateway: true, config: CONFIG });
  const slipway = stack.slipway();
  const { route, rollbacks } = slipway.deployments;
  const succeed = async (begun: Promise<{ operation: { id: string } }>) =>
    expect(await stack.operation((await begun).operation.id)).toMatchObject({ status: 'succeeded' });
  const ask = async (model: string) => {
    const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 2, messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.text();
    return [answer.status, answer.headers.get('x-slipway-held-ms') !== null];
  };
  /** Checks the sleeper's own engines: the other revision stays up. */
  const sleeps = () =>
    until('it sleeps', async () => !stack.simulatorStarts('sleeper').some(({ pid }) => isAlive(pid)), 60_000);
  const spec = (id: string, scaling: object) => ({
    model: { id },
    runtime: { target: 'local', engine: 'sim', args: { startup_ms: 500 } },
    scaling,
  });
  await slipway.deployments.create({ name: 'chat' });
  const rollOut = (one: ReturnType<typeof spec>) =>
    succeed(slipway.deployments.rollouts.create('chat', { spec: one, strategy: { type: 'immediate' } }));
  const sleeper = spec('sleeper', { min_replicas: 0, idle_seconds: 10 });
  await rollOut(sleeper);
  await sleeps();
  await rollOut(spec('other', { min_replicas: 1 }));
  expect(await ask('chat')).toEqual([200, false]);

  await route.set('chat', { revision: '1' });
  await until('its requests wait and wake it', async () => String(await ask('chat')) === '200,true');
  await sleeps();
  await route.set('chat', { revision: '2' });
  await succeed(rollbacks.create('chat', { to_revision: '1' }));
  expect(await ask('chat')).toEqual([200, false]);
  await sleeps();

  const { products, targetBindings, publications } = slipway.admin.modelApi;
  const { id: product_id } = await products.create({ slug: 'acme/chat' });
  const target = { deployment: 'chat', revision: '1' };
  const { id: binding_id } = await targetBindings.create({ product_id, target });
  await succeed(targetBindings.qualify(binding_id));
  await sleeps();
  const bindings = [{ binding_id, weight: 100, priority: 1 }];
  await publications.create({ product_id, bindings, audience: { visibility: 'tenant', tenants: [] } });
  await until('it is published', async () => String(await ask('acme/chat')).startsWith('200'));
});

it('a failed start out of sleep is one start and reports its cause at once to all waiting requests; the next request causes the next start', async () => {
  stack = await Stack.start({ gateway: true, config: CONFIG });
  await stack.slipway().deployments.create({ name: 'chat' });
  const spec = {
    model: { id: 'tiny' },
    runtime: { target: 'local', engine: 'frail' },
    scaling: { min_replicas: 0, idle_seconds: 10 },
  };
  const begun = await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } });
  expect(await stack.operation(begun)).toMatchObject({ status: 'succeeded' });
  await asleep();

  const starts = () => readFileSync(path.join(stack.home, 'frail'), 'utf8').trim().split('\n').length;
  const ask = async () => {
    const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', max_tokens: 2, messages: [{ role: 'user', content: 'hello' }] }),
    });
    const { error } = (await answer.json()) as { error?: { code: string; cause: string } };
    return [answer.status, error?.code, error?.cause];
  };
  writeFileSync(path.join(stack.home, 'broken'), '');
  const before = starts();
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  expect(answers).toEqual(answers.map(() => [503, 'start_failed', 'exited']));
  expect(starts() - before).toBe(1);
  rmSync(path.join(stack.home, 'broken'));
  expect(await ask()).toEqual([200, undefined, undefined]);
});
