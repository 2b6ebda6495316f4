import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { emptyCounts, emptyHistogram, histogramsOf, writeWindows, type StatsWindow } from '@slipway/dataplane';
import { RefusedBindings } from '../../src/model-api-administration/refused-bindings.js';
import { Administration, SupplierServer } from './administration.js';

let area: Administration;
let supplier: SupplierServer;
beforeAll(async () => {
  supplier = await SupplierServer.start();
  area = await Administration.start();
});
afterAll(async () => {
  await area?.stop();
  supplier?.stop();
});

/** A second in the recent past with three failed attempts. */
function failed(bindingId: string, faults: StatsWindow['faults']): StatsWindow {
  return {
    revision_id: bindingId,
    tenant_id: 'ten_1',
    gateway_id: 'gw_1',
    window_start: new Date(Math.floor(Date.now() / 1_000 - 5) * 1_000).toISOString(),
    ...emptyCounts(),
    server_error: 3,
    streamed: 0,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf(emptyHistogram),
    loads: null,
    callers: null,
    waits: null,
    faults,
  };
}

it('reports each fault of the configuration of a supplier once an hour', async () => {
  const product = await area.product();
  const refusing = await area.supplierBinding(product.id, supplier.url);
  const other = await area.supplierBinding(product.id, supplier.url, { model: 'other' });
  const { database, context } = area.harness;
  await database.tx('system', (tx) =>
    writeWindows(tx, [failed(refusing.id, { credential: 2, redirect: 1 }), failed(other.id, { status: 3 })]),
  );
  const run = () => context.get(RefusedBindings).run((scope, work) => database.tx(scope, work));
  await Promise.all([run(), run(), run()]);
  await run();

  const events = await database.read<{ subject: string; data: object }>(
    'system',
    `select subject, data from events where type = 'target_binding.misconfigured' order by data->>'fault'`,
  );
  expect(events).toEqual(
    [
      ['credential', 2],
      ['redirect', 1],
    ].map(([fault, attempts]) => ({
      subject: `target-bindings/${refusing.id}`,
      data: expect.objectContaining({ target_binding_id: refusing.id, slug: product.slug, fault, attempts }),
    })),
  );
});
