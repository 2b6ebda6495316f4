import { afterEach, expect, it } from '@jest/globals';
import { counter, startProbeServer, startProcessMetrics, type ProbeServer, type ProbeServerOptions } from './index.js';

let server: ProbeServer;
afterEach(() => server.close());

const start = async (options: Partial<ProbeServerOptions> = {}): Promise<void> => {
  server = await startProbeServer({ port: 0, host: '127.0.0.1', ready: async () => undefined, ...options });
};
const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init);

it('distinguishes a live process from a ready one', async () => {
  let problem: string | undefined = 'Postgres is down';
  await start({
    ready: async () => {
      if (problem) throw new Error(problem);
    },
  });
  expect((await get('/healthz')).status).toBe(200);
  const unready = await get('/readyz');
  expect([unready.status, await unready.json()]).toEqual([503, { status: 'unavailable', reason: 'Postgres is down' }]);
  problem = undefined;
  expect((await get('/readyz')).status).toBe(200);
  expect((await get('/elsewhere')).status).toBe(404);
  const [wrong, options, head] = await Promise.all(
    ['POST', 'OPTIONS', 'HEAD'].map((method) => get('/healthz', { method })),
  );
  expect([wrong!.status, options!.status, head!.status]).toEqual([405, 204, 200]);
  expect([wrong!.headers.get('allow'), options!.headers.get('allow')]).toEqual(Array(2).fill('GET, HEAD, OPTIONS'));
  expect((await get('/elsewhere', { method: 'POST' })).status).toBe(404);
});

it('does not wait for a check that hangs', async () => {
  await start({ ready: () => new Promise(() => undefined) });
  expect((await get('/readyz')).status).toBe(503);
});

it('renders metrics, and requires the token if one is set', async () => {
  startProcessMetrics('worker');
  counter('slipway_test_total', 'For this test', ['kind']).inc({ kind: 'a' }, 2);
  expect(counter('slipway_test_total', 'For this test', ['kind'])).toBe(counter('slipway_test_total', 'again'));
  await start({ metricsToken: 'hush' });
  expect((await get('/metrics')).status).toBe(401);
  expect((await get('/metrics', { headers: { authorization: 'Bearer hus' } })).status).toBe(401);
  const text = await (await get('/metrics', { headers: { authorization: 'Bearer hush' } })).text();
  expect(text).toContain('slipway_test_total{kind="a",service="worker"} 2');
  expect(text).toContain('process_resident_memory_bytes');
});
