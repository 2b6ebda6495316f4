import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  cut,
  event,
  json,
  refusal,
  silent,
  stream,
  UnrulyServer,
  type UnrulyAnswer,
} from '../../test/unruly-server.js';
import { OperationFailed } from '../index.js';

let server: UnrulyServer;
beforeAll(async () => {
  server = await UnrulyServer.start();
});
afterAll(() => server?.stop());

const record = (status: string, ...steps: string[]) => ({
  id: 'op_1',
  status,
  message: '',
  retryable: false,
  completed_at: ['running', 'waiting'].includes(status) ? null : '2026-01-01T00:00:00Z',
  steps: steps.map((step, index) => ({ name: `step-${index}`, index, status: step })),
});

/** Sets the record that each read returns, and the stream of its events. */
function operation({ id = 'op_1', looks, events }: { id?: string; looks: UnrulyAnswer[]; events: UnrulyAnswer }): void {
  server.does((response, seen) => {
    if (seen.url.endsWith('/events')) return events(response, seen);
    // The last read of a wait that has ended may only just have arrived.
    if (!seen.url.endsWith(`/${id}`)) return undefined;
    const look = looks.length > 1 ? looks.shift() : looks[0];
    return look?.(response, seen);
  });
}
const noStream = refusal(429, 'quota_exceeded', false);

it('a wait reports each step once as it changes, and polls if there is no stream', async () => {
  operation({
    looks: [
      json(200, record('running', 'running', 'pending')),
      json(200, record('running', 'running', 'pending')),
      cut,
      json(200, record('running', 'succeeded', 'dreaming')),
      json(200, record('succeeded', 'succeeded', 'succeeded')),
    ],
    events: noStream,
  });
  const told: string[] = [];
  const ended = await server
    .client()
    .operations.wait('op_1', {
      pollMs: 10,
      onStep: (step, { status }) => void told.push(`${step.name} ${step.status} (${status})`),
    });
  expect(ended.status).toBe('succeeded');
  expect(told).toEqual([
    'step-0 running (running)',
    'step-0 succeeded (running)',
    'step-1 dreaming (running)',
    'step-1 succeeded (succeeded)',
  ]);
});

it('a wait reads the record when an event arrives, and does not poll', async () => {
  let tell: (text: string) => void = () => undefined;
  let hasEnded = false;
  server.does((response, seen) => {
    if (!seen.url.endsWith('/events')) return json(200, record(hasEnded ? 'succeeded' : 'running'))(response, seen);
    tell = (text) => response.write(text);
    return stream(event(1))(response, seen);
  });
  const waiting = server.client().operations.wait('op_1', { pollMs: 3_600_000 });
  // The first read, the stream, and the read that its first event causes.
  await server.until(3);
  hasEnded = true;
  tell(event(2));
  expect((await waiting).status).toBe('succeeded');
  const streams = server.seen.filter(({ url }) => url.endsWith('/events'));
  await Promise.all(streams.map(({ closed }) => closed));
});

it('a wait shows each record that it reads, and ends with the error of the one that looks at it', async () => {
  operation({
    looks: ['running', 'running', 'waiting', 'succeeded'].map((status) => json(200, record(status, 'waiting'))),
    events: noStream,
  });
  const seen: string[] = [];
  const onRecord = ({ status }: { status: string }) => {
    seen.push(status);
    if (status === 'waiting') throw new Error('a person is needed');
  };
  const waiting = server.client().operations.wait('op_1', { pollMs: 5, onRecord });
  await expect(waiting).rejects.toThrow('a person is needed');
  expect(seen).toEqual(['running', 'running', 'waiting']);
});

it('a wait fails with the operation if that ends otherwise, with any status', async () => {
  for (const status of ['failed', 'cancelled', 'evaporated']) {
    const code = status === 'failed' ? { error_code: 'target_not_ready', message: 'exit 1' } : {};
    operation({ looks: [json(200, { ...record(status), ...code })], events: noStream });
    const failure = await server
      .client()
      .operations.wait('op_1')
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OperationFailed);
    expect(failure).toMatchObject({ code: code.error_code ?? status, operation: { id: 'op_1', status } });
  }
});

it('a wait survives an api that is unavailable for a while, but not one that never answered', async () => {
  const away = refusal(503, 'unavailable', true, { 'retry-after': '0' });
  operation({
    looks: [json(200, record('running')), ...Array<UnrulyAnswer>(12).fill(away), json(200, record('succeeded'))],
    events: away,
  });
  const told: unknown[] = [];
  const onAway = (error?: { code: string }) => void told.push(error?.code);
  expect((await server.client().operations.wait('op_1', { pollMs: 5, onAway })).status).toBe('succeeded');
  expect(told).toEqual(['unavailable', undefined]);
  operation({ looks: [json(200, record('running')), away], events: away });
  const impatient = server.client().operations.wait('op_1', { pollMs: 5, awayMs: 0 });
  await expect(impatient).rejects.toMatchObject({ code: 'unavailable' });
  operation({ looks: [away], events: away });
  await expect(server.client().operations.wait('op_1', { pollMs: 5 })).rejects.toMatchObject({ code: 'unavailable' });
  // Any call of the client was an answer, for example the one that began the operation.
  operation({
    looks: [json(200, record('running')), ...Array<UnrulyAnswer>(12).fill(away), json(200, record('succeeded'))],
    events: away,
  });
  const { operations } = server.client();
  await operations.get('op_1');
  expect((await operations.wait('op_1', { pollMs: 5 })).status).toBe('succeeded');
  operation({ looks: [json(200, record('running')), refusal(404, 'operation_not_found', false)], events: noStream });
  await expect(server.client().operations.wait('op_1', { pollMs: 5 })).rejects.toMatchObject({
    code: 'operation_not_found',
  });
});

it('a wait ends with its limit, its signal, and an error of its callback', async () => {
  const startedAt = performance.now();
  operation({ looks: [json(200, record('running', 'running'))], events: stream(event(1)) });
  const { operations } = server.client();
  await expect(operations.wait('op_1', { limitMs: 500 })).rejects.toMatchObject({ code: 'timed_out' });
  operation({ id: 'op_2', looks: [json(200, record('running')), silent], events: noStream });
  await expect(operations.wait('op_2', { limitMs: 500, pollMs: 5 })).rejects.toMatchObject({ code: 'timed_out' });
  operation({ looks: [json(200, record('running', 'running'))], events: stream(event(1)) });
  // The next read, which would find out too, is too late to matter.
  const told = { signal: AbortSignal.timeout(500), pollMs: 3_600_000 };
  await expect(operations.wait('op_1', told)).rejects.toMatchObject({ name: 'TimeoutError' });
  const onStep = () => Promise.reject(new Error('not my step'));
  await expect(operations.wait('op_1', { onStep })).rejects.toThrow('not my step');
  // None of them leaves its stream open.
  const streams = server.seen.filter(({ url }) => url.endsWith('/events'));
  expect(streams.length).toBeGreaterThan(0);
  await Promise.all(streams.map(({ closed }) => closed));
  // After 45 seconds the silence of the stream would have ended all of it, after 30 that of the read.
  expect(performance.now() - startedAt).toBeLessThan(25_000);
});
