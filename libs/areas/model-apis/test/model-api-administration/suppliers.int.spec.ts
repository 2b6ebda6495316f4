import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Config } from '@slipway/platform-config';
import { ADMIN, Administration, OTHER, SupplierServer } from './administration.js';

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
