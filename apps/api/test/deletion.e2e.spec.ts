import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { isAlive, Stack, until } from './stack.js';

jest.setTimeout(120_000);

let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
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

async function rollout(name: string, model: string, headers: Record<string, string> = {}): Promise<void> {
  const asked = { spec: spec(model), strategy: { type: 'immediate' } };
  const { status, body } = await stack.send('POST', `/deployments/${name}/rollouts`, asked, { headers });
  expect([status, body.created]).toEqual([202, true]);
  expect(await stack.operation(body.operation.id)).toMatchObject({ status: 'succeeded' });
}

/** Reads a stream until the server ends it. */
async function follow(target: string): Promise<string> {
  const answer = await fetch(`${stack.apiUrl()}/api/v1${target}`, {
    headers: { authorization: `Bearer ${stack.token}`, accept: 'text/event-stream' },
  });
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  return answer.text();
}

it('deletes a deployment while its stream is followed: traffic, engines and name are gone, and the name serves again', async () => {
  const name = 'doomed';
  expect((await stack.send('POST', '/deployments', { name })).status).toBe(201);
  await until('the gateway knows the name without a route', async () => (await chat(name)) === 503, 5_000);
  await rollout(name, 'm-old');
  await rollout(name, 'm-new', { 'idempotency-key': 'release-1' });
  await until('the gateway serves', async () => (await chat(name)) === 200, 5_000);
  await until(
    'it is healthy',
    async () => (await stack.send('GET', `/deployments/${name}`)).body.conditions[0].status === 'True',
  );

  const accepted = await stack.send('DELETE', `/deployments/${name}`);
  expect(accepted.status).toBe(202);
  const { id } = accepted.body.operation;
  const [stream, record] = await Promise.all([follow(`/operations/${id}/events`), stack.operation(id)]);
  expect(record).toMatchObject({
    status: 'succeeded',
    kind: 'delete_deployment',
    progress: 100,
    result: { outcome: 'deleted' },
  });
  expect(stream).toContain('"status": "succeeded"');
  expect((await stack.send('GET', `/deployments/${name}`)).status).toBe(404);
  expect(await chat(name)).toBe(404);
  await until('its engines are gone', async () =>
    [...stack.simulatorStarts('m-old'), ...stack.simulatorStarts('m-new')].every(({ pid }) => !isAlive(pid)),
  );

  expect((await stack.send('POST', '/deployments', { name })).status).toBe(201);
  // B14: the key of a rollout of the one before, and even the same body, mean a rollout of this one.
  await rollout(name, 'm-new', { 'idempotency-key': 'release-1' });
  await until('the name serves again', async () => (await chat(name)) === 200, 5_000);
  expect((await stack.send('GET', `/deployments/${name}/events?order=asc`)).body.data[0]).toMatchObject({
    sequence: 1,
    type: 'deployment.created',
  });
});

it('survives kill -9 of the worker while it deletes', async () => {
  const name = 'doomed-too';
  await stack.send('POST', '/deployments', { name });
  await rollout(name, 'm-kill');
  for (const point of [
    'operation:release_route:before-commit',
    'operation:stop_instances:before-commit',
    'operation:remove:before-commit',
  ]) {
    await stack.kill('worker');
    stack.spawn('worker', 0, { SLIPWAY_PAUSE_POINT: point });
    if (point.includes('release_route')) expect((await stack.send('DELETE', `/deployments/${name}`)).status).toBe(202);
    await stack.paused('worker', 0, point);
  }
  await stack.kill('worker');
  stack.spawn('worker');
  const [operation] = (await stack.send('GET', '/operations?kind=delete_deployment&resource_name=doomed-too')).body
    .data;
  expect(await stack.operation(operation.id)).toMatchObject({ status: 'succeeded' });
  expect((await stack.send('GET', `/deployments/${name}`)).status).toBe(404);
  await until('its engine is gone', async () => stack.simulatorStarts('m-kill').every(({ pid }) => !isAlive(pid)));
});
