import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Stack, until } from './stack.js';

jest.setTimeout(120_000);

/** An engine that loads for a moment, says why it cannot, and ends. */
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

beforeAll(async () => {
  stack = await Stack.start({ config: () => JSON.stringify(CONFIG) });
}, 120_000);
afterAll(() => stack?.stop());

/** The end of a rollout with nothing but a spec, and how long it took. */
async function rollOut(name: string, engine: string): Promise<{ record: any; seconds: number }> {
  expect((await stack.send('POST', '/deployments', { name })).status).toBe(201);
  const began = performance.now();
  const spec = { model: { id: 'tiny' }, runtime: { target: 'host', engine } };
  const { body } = await stack.send('POST', `/deployments/${name}/rollouts`, { spec });
  const record = await stack.operation(body.operation.id);
  return { record, seconds: (performance.now() - began) / 1_000 };
}

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${stack.apiUrl()}/api/v1${path}`, { headers: { authorization: `Bearer ${stack.token}`, ...headers } });

it('an engine that exits at once fails its rollout soon, with the cause and its own last lines, which stay to be read', async () => {
  const { record, seconds } = await rollOut('dying', 'dying');
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record.message).toMatch(/[3-9] starts in a row ended alike/);
  expect(record.message).toContain('the weights of tiny are corrupt');
  expect(record.steps.find((step: any) => step.name === 'await_ready').evidence).toMatchObject({
    cause: 'exited',
    exit_code: 7,
    log_tail: ['loading', 'the weights of tiny are corrupt'],
  });
  expect(seconds).toBeLessThan(15);

  const { data } = (await stack.send('GET', '/deployments/dying/instances')).body;
  expect(data).toMatchObject([{ revision: 'dying-00001', target: 'host', failure: { cause: 'exited', exit_code: 7 } }]);
  const logs = `/deployments/dying/instances/${data[0].id}/logs`;
  const plain = async (query: string): Promise<string> => {
    const answer = await read(`${logs}?${query}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    return answer.text();
  };
  // The end of the rollout may have cut a start short that had not said anything yet.
  const which = (await plain('tail=1&stream=stderr')) === '' ? 'previous=true&' : '';
  expect(await plain(`${which}tail=1&stream=stderr`)).toBe('the weights of tiny are corrupt\n');

  const stream = await read(`${logs}?${which}follow=true&tail=1`);
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  await until('a line of the stream', async () => {
    seen += (await reader.read()).value ?? '';
    return /event: stderr\ndata: \{"at":[^}]*,"text":"the weights of tiny are corrupt"\}\n\n/.test(seen);
  });
  await reader.cancel();
});

it('a program that is not there ends the rollout at its first start', async () => {
  const { record, seconds } = await rollOut('missing', 'missing');
  expect(record).toMatchObject({ status: 'failed', error_code: 'target_not_ready' });
  expect(record.message).toContain('program_not_found');
  expect(record.message).toContain('/no/such/engine');
  expect(seconds).toBeLessThan(15);
});

it('an adopted server has no output here', async () => {
  expect((await stack.send('POST', '/deployments', { name: 'adopted' })).status).toBe(201);
  const spec = {
    model: { id: 'm' },
    runtime: { target: 'adopted' },
    endpoint: { base_url: `http://127.0.0.1:${new URL(stack.apiUrl()).port}`, health_path: '/healthz' },
  };
  const { body } = await stack.send('POST', '/deployments/adopted/rollouts', { spec });
  const instances = async () => (await stack.send('GET', '/deployments/adopted/instances')).body.data;
  await until('its instance', async () => (await instances()).length === 1);
  const refused = await stack.send('GET', `/deployments/adopted/instances/${(await instances())[0].id}/logs`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'logs_not_kept']);
  await stack.send('POST', `/operations/${body.operation.id}/cancel`);
});

it('output is 503 with its reason while no worker leads the target', async () => {
  const { data } = (await stack.send('GET', '/deployments/dying/instances')).body;
  await stack.kill('worker');
  const { status, body } = await stack.send('GET', `/deployments/dying/instances/${data[0].id}/logs`);
  expect([status, body.error.code]).toEqual([503, 'logs_unavailable']);
  expect(body.error.message).toContain('no worker leads target host');
});
