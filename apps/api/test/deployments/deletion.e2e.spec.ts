import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { DeploymentEvent, Slipway } from '@slipway/sdk';
import { codeOf } from '../harness/refusals.js';
import { isAlive, Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

let stack: Stack;
let slipway: Slipway;

beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
  slipway = stack.slipway();
});
afterAll(() => stack?.stop());

const spec = (model: string) => ({ model: { id: model }, runtime: { target: 'local', engine: 'sim', args: {} } });
const chat = async (model: string) => {
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  await answer.text();
  return answer.status;
};

async function rollout(name: string, model: string, key?: object): Promise<void> {
  const asked = { spec: spec(model), strategy: { type: 'immediate' } } as const;
  const { created, operation } = await slipway.deployments.rollouts.create(name, asked, key);
  expect(created).toBe(true);
  expect(await stack.operation(operation.id)).toMatchObject({ status: 'succeeded' });
}

/** Follows an operation until its last event. */
async function follow(id: string): Promise<DeploymentEvent[]> {
  const events: DeploymentEvent[] = [];
  for await (const event of slipway.operations.events.follow(id)) events.push(event);
  return events;
}

const lookup = (name: string) => codeOf(slipway.deployments.get(name));

it('deletes a deployment while its stream is followed: traffic, engines and name are gone, and the name serves again', async () => {
  const name = 'doomed';
  await slipway.deployments.create({ name });
  await until('the gateway knows the name without a route', async () => (await chat(name)) === 503, 20_000);
  await rollout(name, 'm-old');
  await rollout(name, 'm-new', { idempotencyKey: 'release-1' });
  await until('the gateway serves', async () => (await chat(name)) === 200, 20_000);
  await until('it is healthy', async () => (await slipway.deployments.get(name)).conditions[0]?.status === 'True');

  const { id } = (await slipway.deployments.delete(name)).operation;
  const [events, record] = await Promise.all([follow(id), stack.operation(id)]);
  expect(record).toMatchObject({
    status: 'succeeded',
    kind: 'delete_deployment',
    progress: 100,
    result: { outcome: 'deleted' },
  });
  expect(events.at(-1)).toMatchObject({ type: 'operation.status_changed', data: { status: 'succeeded' } });
  expect(await lookup(name)).toBe('404 deployment_not_found');
  expect(await chat(name)).toBe(404);
  await until('its engines are gone', async () =>
    [...stack.simulatorStarts('m-old'), ...stack.simulatorStarts('m-new')].every(({ pid }) => !isAlive(pid)),
  );

  await slipway.deployments.create({ name });
  // The key of a rollout of the deleted deployment, and even the same body, now mean a rollout of this one.
  await rollout(name, 'm-new', { idempotencyKey: 'release-1' });
  await until('the name serves again', async () => (await chat(name)) === 200, 20_000);
  expect((await slipway.deployments.events.list(name, { order: 'asc' })).data[0]).toMatchObject({
    sequence: 1,
    type: 'deployment.created',
  });
});

it('continues after kill -9 of the worker during the deletion', async () => {
  const name = 'doomed-too';
  await slipway.deployments.create({ name });
  await rollout(name, 'm-kill');
  for (const point of [
    'operation:release_route:before-commit',
    'operation:stop_instances:before-commit',
    'operation:remove:before-commit',
  ]) {
    await stack.kill('worker');
    stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
    if (point.includes('release_route')) await slipway.deployments.delete(name);
    await stack.paused('worker', 0, point);
  }
  await stack.kill('worker');
  stack.spawn('worker');
  const { data } = await slipway.operations.list({ kind: 'delete_deployment', resource_name: name });
  expect(data).toHaveLength(1);
  expect(await stack.operation(data[0]!.id)).toMatchObject({ status: 'succeeded' });
  expect(await lookup(name)).toBe('404 deployment_not_found');
  await until('its engine is gone', async () => stack.simulatorStarts('m-kill').every(({ pid }) => !isAlive(pid)));
});
