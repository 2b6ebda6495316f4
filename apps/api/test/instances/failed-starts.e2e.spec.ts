import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { codeOf } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

/** Far below the ten minutes that a rollout waits for an engine by default, and enough for a busy machine. */
const SOON_SECONDS = 60;

/** An engine that loads for a moment, reports why it cannot continue, and ends. */
const DYING = `console.log('loading'); setTimeout(() => { console.error('the weights of ' + process.argv[1] + ' are corrupt'); process.exit(7); }, 100)`;

const CONFIG = {
  targets: [
    {
      name: 'host',
      kind: 'process',
      engines: {
        dying: {
          command: ['node', '-e', DYING, '{model.id}', '{port}'],
          ready: { path: '/health', timeout_seconds: 30 },
        },
        missing: { command: ['/no/such/engine', '{port}'], ready: { path: '/health', timeout_seconds: 30 } },
      },
    },
    { name: 'adopted', kind: 'endpoint', allow: ['http://127.0.0.1:*'] },
  ],
};

let stack: Stack;
let slipway: Slipway;

beforeAll(async () => {
  stack = await Stack.start({ config: () => JSON.stringify(CONFIG) });
  slipway = stack.slipway();
}, 120_000);
afterAll(() => stack?.stop());

/** Returns the end of a rollout with only a spec, and how long it took. */
async function rollOut(name: string, engine: string): Promise<{ record: any; seconds: number }> {
  await slipway.deployments.create({ name });
  const began = performance.now();
  const spec = { model: { id: 'tiny' }, runtime: { target: 'host', engine } };
  const record = await stack.operation(await stack.rollOut(name, { spec }));
  return { record, seconds: (performance.now() - began) / 1_000 };
}

it('an engine that exits at once fails its rollout soon, with the cause and its own last lines, which stay readable', async () => {
  const { record, seconds } = await rollOut('dying', 'dying');
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record.message).toMatch(/^exited: it ended with code 7: the weights of tiny are corrupt\. /);
  const failure = { cause: 'exited', exit_code: 7, log_tail: ['loading', 'the weights of tiny are corrupt'] };
  expect(record.steps.find((step: any) => step.name === 'await_ready')).toMatchObject({
    message: expect.stringMatching(
      /^0 of 1 instances are ready, and [3-9] consecutive starts failed in the same way\.$/,
    ),
    evidence: failure,
  });
  const { data: events } = await slipway.deployments.events.list('dying', { type: 'instance.crashed' });
  expect(events).toMatchObject([{ data: { cause: 'exited', message: expect.stringContaining('code 7') } }]);
  expect((await slipway.deployments.get('dying')).last_failed_start).toMatchObject({
    ...failure,
    revision: 'dying-00001',
    message: 'it ended with code 7: the weights of tiny are corrupt',
  });
  expect(seconds).toBeLessThan(SOON_SECONDS);

  const { data } = await slipway.deployments.instances.list('dying', { revision: '1' });
  expect(data).toMatchObject([
    { revision: 'dying-00001', target: 'host', is_serving: false, failure: { cause: 'exited', exit_code: 7 } },
  ]);
  expect(await codeOf(slipway.deployments.instances.list('dying', { revision: '2' }))).toBe('404 revision_not_found');
  const { id } = data[0]!;
  const { logs, followLogs } = slipway.deployments.instances;
  const last = async (previous: boolean): Promise<string> => {
    const answer = await logs('dying', id, { tail: 1, stream: 'stderr', previous, since_seconds: 600 });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    return answer.text();
  };
  // The end of the rollout may have interrupted a start that had not written anything yet.
  const previous = (await last(false)) === '';
  expect(await last(previous)).toBe('the weights of tiny are corrupt\n');

  const said = { stream: 'stderr', at: expect.any(String), text: 'the weights of tiny are corrupt' };
  for await (const line of followLogs('dying', id, { previous, tail: 1, signal: AbortSignal.timeout(30_000) })) {
    if (line.stream === 'stdout') continue;
    expect(line).toEqual(said);
    break;
  }
});

it('a missing program ends the rollout at its first start', async () => {
  const { record, seconds } = await rollOut('missing', 'missing');
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record.message).toContain('program_not_found');
  expect(record.message).toContain('/no/such/engine');
  expect(seconds).toBeLessThan(SOON_SECONDS);
});

it('an adopted server has no output here', async () => {
  await slipway.deployments.create({ name: 'adopted' });
  const spec = {
    model: { id: 'm' },
    runtime: { target: 'adopted' },
    endpoint: { base_url: `http://127.0.0.1:${new URL(stack.apiUrl()).port}`, health_path: '/healthz' },
  };
  const id = await stack.rollOut('adopted', { spec });
  const instances = async () => (await slipway.deployments.instances.list('adopted')).data;
  await until('its instance', async () => (await instances()).length === 1);
  const refused = slipway.deployments.instances.logs('adopted', (await instances())[0]!.id);
  expect(await codeOf(refused)).toBe('409 logs_not_kept');
  await slipway.operations.cancel(id);
});

it('output is 503 with its reason while no worker leads the target', async () => {
  const { data } = await slipway.deployments.instances.list('dying');
  await stack.kill('worker');
  await expect(slipway.deployments.instances.logs('dying', data[0]!.id)).rejects.toMatchObject({
    status: 503,
    code: 'logs_unavailable',
    message: expect.stringContaining('no worker leads target host'),
  });
});
