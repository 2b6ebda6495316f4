import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { KubeClient } from './client.js';
import { PODS } from './objects.js';

/** Answers the first two requests with 429 and this message, then with 200. */
async function asked(message: string): Promise<{ calls: number; error?: unknown }> {
  let calls = 0;
  const server = createServer((_, answer) => {
    calls += 1;
    answer.statusCode = calls > 2 ? 200 : 429;
    answer.end(JSON.stringify(calls > 2 ? { metadata: {}, items: [] } : { reason: 'TooManyRequests', message }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new KubeClient({ server: `http://127.0.0.1:${port}`, ca: '' }, 'token');
  try {
    await client.list(PODS, { namespace: 'models' });
    return { calls };
  } catch (error) {
    return { calls, error };
  } finally {
    await client.close();
    server.close();
  }
}

it('waits for a type that was just added, and for no other answer 429', async () => {
  expect(await asked('storage is (re)initializing')).toEqual({ calls: 3 });
  expect(await asked("Cannot evict pod as it would violate the pod's disruption budget.")).toMatchObject({
    calls: 1,
    error: { status: 429, reason: 'TooManyRequests' },
  });
});
