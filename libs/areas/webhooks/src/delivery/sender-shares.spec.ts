import { describe, expect, it } from '@jest/globals';
import { claimsFor, MAX_SENDS } from './sender-shares.js';

/** So many lanes of a tenant, each of a webhook and towards a receiver of its own unless one is named. */
const lanes = (tenant_id: string, count: number, same: { webhook_id?: string; receiver?: string } = {}) =>
  Array.from({ length: count }, (_, index) => ({
    tenant_id,
    webhook_id: `whk_${tenant_id}_${index}`,
    receiver: `${tenant_id}-${index}.example.com`,
    ...same,
  }));
const tenantsLeftAlone = (...sent: ReturnType<typeof lanes>[]) => claimsFor(sent.flat()).map(({ tenants }) => tenants);

/** Every tenant has endless lanes due towards receivers that never answer: how many slots each of them gets. */
function filled(tenants: readonly string[]): number[] {
  const held = new Map(tenants.map((tenant) => [tenant, 0]));
  for (;;) {
    const sent = [...held].flatMap(([tenant, count]) => lanes(tenant, count));
    if (sent.length === MAX_SENDS) break;
    const next = claimsFor(sent)
      .map((except) => tenants.find((tenant) => !except.tenants!.includes(tenant)))
      .find((tenant) => tenant !== undefined);
    if (next === undefined) break;
    held.set(next, held.get(next)! + 1);
  }
  return [...held.values()];
}

describe('A7: the slots of a process', () => {
  it('are free to all while none holds a quarter', () => {
    expect(tenantsLeftAlone(lanes('a', 3), lanes('b', 3))).toEqual([[]]);
  });

  it('go first to those below a quarter, then to anybody', () => {
    expect(tenantsLeftAlone(lanes('a', 4), lanes('b', 3))).toEqual([['a'], []]);
  });

  it('are never taken beyond what a tenant leaves free', () => {
    expect(tenantsLeftAlone(lanes('a', 7))).toEqual([['a'], []]);
    expect(tenantsLeftAlone(lanes('a', 8))).toEqual([['a']]);
    expect(tenantsLeftAlone(lanes('a', 6), lanes('b', 4), lanes('c', 2))).toEqual([['a', 'b']]);
    expect(tenantsLeftAlone(lanes('a', 8), lanes('b', 4), lanes('c', 2))).toEqual([['a', 'b', 'c']]);
  });

  it.each([1, 2, 3, 4])('leave room for one more beside %i slow tenants', (count) => {
    const held = filled(Array.from({ length: count }, (_, index) => `ten_${index}`));
    expect(held.reduce((sum, slots) => sum + slots)).toBeLessThan(MAX_SENDS);
    expect(Math.min(...held)).toBeGreaterThan(0);
  });

  it('are kept for one that holds none, where many slow tenants hold all and a turn ends', () => {
    const tenants = Array.from({ length: 8 }, (_, index) => `ten_${index}`);
    const all = tenants.flatMap((tenant) => lanes(tenant, 2));
    expect(tenantsLeftAlone(all.slice(1))).toEqual([tenants]);
  });

  it('are a quarter for one webhook, and three quarters for one receiver', () => {
    expect(claimsFor(lanes('a', 3, { webhook_id: 'whk_1' }))[0]!.webhooks).toEqual([]);
    expect(claimsFor(lanes('a', 4, { webhook_id: 'whk_1' }))[0]!.webhooks).toEqual(['whk_1']);
    const shared = (count: number) =>
      claimsFor(lanes('a', 6, { receiver: 'shared' }).concat(lanes('b', count, { receiver: 'shared' })));
    expect(shared(5)[0]!.receivers).toEqual([]);
    expect(shared(6)[0]!.receivers).toEqual(['shared']);
  });
});
