import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Config } from '@slipway/platform-config';
import { ADMIN, Administration, OTHER, soundAnswer, SupplierServer } from './administration.js';

let supplier: SupplierServer;

beforeAll(async () => {
  supplier = await SupplierServer.start();
});
afterAll(() => supplier?.stop());

async function under<T>(change: Partial<Config>, work: (area: Administration) => Promise<T>): Promise<T> {
  const area = await Administration.start(change);
  try {
    for (const { tenantId, tenantName } of [ADMIN, OTHER])
      await area.harness.database.tx('system', (tx) =>
        tx.query('insert into tenants (id, name) values ($1, $2)', [tenantId, tenantName]),
      );
    return await work(area);
  } finally {
    await area.stop();
  }
}

const suppliersAt = (tenants: string[]) => ({
  operator: { targets: [], secrets: {}, outbound: { suppliers: [{ origin: supplier.url, tenants }] } },
});
const refused = { code: 'validation_failed', details: [{ field: 'target.base_url', code: 'url_not_allowed' }] };

it('a supplier serves only the tenants it is named for', () => {
  const tenants = ['one'];
  return under(suppliersAt(tenants), async (area) => {
    const target = { supplier: 's', base_url: supplier.url, model: 'sim' };
    const { id: product_id } = await area.product(OTHER);
    await expect(area.bindings.create(OTHER, { product_id, target })).rejects.toMatchObject(refused);

    const { id: ours } = await area.product();
    const binding = await area.supplierBinding(ours, supplier.url);
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'succeeded' });
    // Each caller checks again: the binding may be older than the configuration.
    const seen = supplier.seen.length;
    tenants.splice(0, 1, 'other');
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed' });
    expect(supplier.seen).toHaveLength(seen);
  });
});

it('an address that may be adopted as an engine is no supplier', () => {
  const targets = [{ name: 'adopted', kind: 'endpoint', allow: [supplier.url] }];
  return under({ operator: { targets, secrets: {} } }, async (area) => {
    const { id } = await area.product();
    await expect(area.supplierBinding(id, supplier.url)).rejects.toMatchObject(refused);
  });
});

it('a port of Slipway itself is no supplier, whatever the operator allows', () =>
  under({ ...suppliersAt(['*']), ownPorts: [Number(new URL(supplier.url).port)] }, async (area) => {
    const seen = supplier.seen.length;
    const { id } = await area.product();
    const binding = await area.supplierBinding(id, supplier.url);
    expect(await area.qualify(binding.id)).toMatchObject({ status: 'failed' });
    expect(supplier.seen).toHaveLength(seen);
  }));

/** Starts a supplier that refuses its first calls for now, and drives a qualification of it to its first wait. */
async function whileBusy(
  refusals: number,
  retryAfter: string,
  judge: (area: Administration, id: string, calls: () => number) => Promise<void>,
): Promise<void> {
  let calls = 0;
  const busy = await SupplierServer.start((request, response) => {
    calls += 1;
    if (calls > refusals) return soundAnswer(request, response);
    response.writeHead(429, { 'retry-after': retryAfter }).end('{"error":{"message":"slow down"}}');
  });
  try {
    await under({}, async (area) => {
      const { id: product } = await area.product();
      const { id: binding } = await area.supplierBinding(product, busy.url);
      const id = await area.begin(binding);
      await area.harness.drive(ADMIN.tenantId, id);
      await judge(area, id, () => calls);
    });
  } finally {
    await busy.stop();
  }
}

it('a supplier that requests a wait is called again only after it, and qualifies', () =>
  whileBusy(1, '20', async ({ harness }, id, calls) => {
    expect(calls()).toBe(1);
    const [row] = await harness.database.read<{ seconds: number }>(
      'system',
      'select extract(epoch from wake_at - now())::float8 as seconds from operations where id = $1',
      [id],
    );
    expect(row?.seconds).toBeGreaterThan(10);
    expect(row?.seconds).toBeLessThanOrEqual(20);
    expect(await harness.finish(ADMIN.tenantId, id)).toMatchObject({ status: 'succeeded' });
  }));

it('a supplier that requests a longer wait than a minute fails, and is not called again', () =>
  whileBusy(9, '61', async ({ harness }, id, calls) => {
    const failed = await harness.finish(ADMIN.tenantId, id);
    expect(failed).toMatchObject({ status: 'failed', error_code: 'dependency_outage' });
    expect(failed.message).toContain('the target requests a wait of 61 s');
    expect(calls()).toBe(1);
  }));

it('a supplier that always requests a wait fails in the end', () =>
  whileBusy(99, '1', async ({ harness }, id, calls) => {
    expect(await harness.finish(ADMIN.tenantId, id)).toMatchObject({ status: 'failed' });
    expect(calls()).toBe(4);
  }));
