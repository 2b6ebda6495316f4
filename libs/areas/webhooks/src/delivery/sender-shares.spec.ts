import { describe, expect, it } from '@jest/globals';
import { claimsFor, MAX_SENDS } from './sender-shares.js';

/** Returns that many queues of a tenant, each with a webhook and a receiver of its own unless one is named. */
const queues = (tenant_id: string, count: number, same: { webhook_id?: string; receiver?: string } = {}) =>
  Array.from({ length: count }, (_, index) => ({
    tenant_id,
    webhook_id: `whk_${tenant_id}_${index}`,
    receiver: `${tenant_id}-${index}.example.com`,
    ...same,
  }));
const tenantsLeftAlone = (...sent: ReturnType<typeof queues>[]) => claimsFor(sent.flat()).map(({ tenants }) => tenants);

/** Every tenant has endless queues due for receivers that never answer. Returns how many senders each of them gets. */
function filled(tenants: readonly string[]): number[] {
  const busy = new Map(tenants.map((tenant) => [tenant, 0]));
  for (;;) {
    const sent = [...busy].flatMap(([tenant, count]) => queues(tenant, count));
    if (sent.length === MAX_SENDS) break;
    const next = claimsFor(sent)
      .map((exclusions) => tenants.find((tenant) => !exclusions.tenants!.includes(tenant)))
      .find((tenant) => tenant !== undefined);
    if (next === undefined) break;
    busy.set(next, busy.get(next)! + 1);
  }
  return [...busy.values()];
}

describe('the senders of a process', () => {
  it('are free to all while no tenant has a quarter', () => {
    expect(tenantsLeftAlone(queues('a', 3), queues('b', 3))).toEqual([[]]);
  });

  it('serve tenants below a quarter first, then any tenant', () => {
    expect(tenantsLeftAlone(queues('a', 4), queues('b', 3))).toEqual([['a'], []]);
  });

  it('are never taken beyond what a tenant leaves free', () => {
    expect(tenantsLeftAlone(queues('a', 7))).toEqual([['a'], []]);
    expect(tenantsLeftAlone(queues('a', 8))).toEqual([['a']]);
    expect(tenantsLeftAlone(queues('a', 6), queues('b', 4), queues('c', 2))).toEqual([['a', 'b']]);
    expect(tenantsLeftAlone(queues('a', 8), queues('b', 4), queues('c', 2))).toEqual([['a', 'b', 'c']]);
  });

  it.each([1, 2, 3, 4])('leave one free in addition to %i slow tenants', (count) => {
    const busy = filled(Array.from({ length: count }, (_, index) => `ten_${index}`));
    expect(busy.reduce((sum, count) => sum + count)).toBeLessThan(MAX_SENDS);
    expect(Math.min(...busy)).toBeGreaterThan(0);
  });

  it('are kept for a tenant that has none, if many slow tenants have all and a run ends', () => {
    const tenants = Array.from({ length: 8 }, (_, index) => `ten_${index}`);
    const all = tenants.flatMap((tenant) => queues(tenant, 2));
    expect(tenantsLeftAlone(all.slice(1))).toEqual([tenants]);
  });

  it('are limited to a quarter for one webhook, and to three quarters for one receiver', () => {
    expect(claimsFor(queues('a', 3, { webhook_id: 'whk_1' }))[0]!.webhooks).toEqual([]);
    expect(claimsFor(queues('a', 4, { webhook_id: 'whk_1' }))[0]!.webhooks).toEqual(['whk_1']);
    const shared = (count: number) =>
      claimsFor(queues('a', 6, { receiver: 'shared' }).concat(queues('b', count, { receiver: 'shared' })));
    expect(shared(5)[0]!.receivers).toEqual([]);
    expect(shared(6)[0]!.receivers).toEqual(['shared']);
  });
});
