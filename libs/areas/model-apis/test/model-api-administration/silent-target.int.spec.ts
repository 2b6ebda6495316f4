import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { ADMIN, Administration, CHECKS, SupplierServer } from './administration.js';

/**
 * Four silent calls would take four of these. The test allows two, so that a busy machine has one for everything else.
 */
const IDLE_TIMEOUT_MS = 8_000;

let area: Administration;

beforeAll(async () => {
  area = await Administration.start({}, IDLE_TIMEOUT_MS);
});
afterAll(() => area?.stop());

const stateOf = (id: string): Promise<any> => area.bindings.get('ten_1', id);

it('a target that hangs holds a worker for one idle time-out, not for one per call, and may be retried', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined).resume()));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const { id: productId } = await area.product();
  const binding = await area.supplierBinding(productId, `http://127.0.0.1:${port}`);
  const from = performance.now();
  const record = await area.qualify(binding.id);
  const heldMs = performance.now() - from;
  console.log(`a qualification of a target that hangs held its worker for ${Math.ceil(heldMs)} ms`);
  expect(heldMs).toBeLessThan(2 * IDLE_TIMEOUT_MS);
  expect(sockets).toHaveLength(1);
  expect(record).toMatchObject({ status: 'failed', error_code: 'dependency_outage', retryable: true });
  const { checks } = (await stateOf(binding.id)).qualification;
  expect(checks.map((check: any) => [check.name, check.passed])).toEqual(CHECKS.map((name) => [name, false]));
  expect(checks[1].message).toBe('not called, because the target did not respond to an earlier call');
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => server.close(closed));
  const late = await SupplierServer.start(undefined, port);
  await area.harness.database.tx({ tenantId: 'ten_1' }, (tx) =>
    area.harness.store.retry(tx, record['id'], ADMIN.actor),
  );
  expect(await area.harness.finish('ten_1', record['id'])).toMatchObject({ status: 'succeeded' });
  await late.stop();
}, 120_000);
