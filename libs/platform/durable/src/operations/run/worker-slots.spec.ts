import { expect, it } from '@jest/globals';
import type { OperationPriority } from '../define/operation.definition.js';
import { claimRequests, type RunningOperation } from './worker-slots.js';

const of = (tenantId: string, slots: number, priority: OperationPriority = 'ordinary'): RunningOperation[] =>
  Array.from({ length: slots }, () => ({ tenantId, priority }));

/** The running operations after this tenant has repeatedly sent more than the capacity allows. */
function flooded(
  before: RunningOperation[],
  tenantId: string,
  priority: OperationPriority,
  concurrency = 20,
): RunningOperation[] {
  const occupied = [...before];
  for (;;) {
    const ask = claimRequests(occupied, concurrency).find(
      ({ priorities, skip, outboundLimit, skipOutbound }) =>
        !skip.includes(tenantId) &&
        (priority === 'outbound'
          ? outboundLimit > 0 && !skipOutbound.includes(tenantId)
          : priorities.includes(priority)),
    );
    if (!ask) return occupied;
    occupied.push(...of(tenantId, priority === 'outbound' ? ask.outboundLimit : ask.limit, priority));
  }
}
const slotsOf = (occupied: RunningOperation[], tenantId: string): number =>
  occupied.filter((one) => one.tenantId === tenantId).length;

it('makes one request for everything while slots are free', () => {
  expect(claimRequests([], 20)).toEqual([
    { priorities: ['urgent', 'ordinary'], limit: 15, skip: [], outboundLimit: 3, skipOutbound: [] },
  ]);
});

it('leaves capacity for the next tenant, whatever the earlier ones have sent', () => {
  let occupied: RunningOperation[] = [];
  for (const tenant of ['a', 'b', 'c']) occupied = flooded(occupied, tenant, 'ordinary');
  expect(['a', 'b', 'c'].map((tenant) => slotsOf(occupied, tenant))).toEqual([15, 4, 1]);
  expect(occupied).toHaveLength(20);
});

it('lets at most a quarter of the slots wait for hosts outside, and no tenant take all of these', () => {
  let occupied = flooded([], 'a', 'outbound');
  expect(slotsOf(occupied, 'a')).toBe(3);
  occupied = flooded(occupied, 'b', 'outbound');
  expect(slotsOf(occupied, 'b')).toBe(1);
  for (const tenant of ['c', 'd', 'e']) occupied = flooded(occupied, tenant, 'outbound');
  expect(occupied).toHaveLength(5);
  // Operations that hang there take nothing from tenants that do not wait for hosts outside.
  expect(slotsOf(flooded(occupied, 'f', 'ordinary'), 'f')).toBeGreaterThanOrEqual(11);
});

it('requests a rollback first, also for a tenant that has its share, and has a slot for it when all are taken', () => {
  const full = [...of('a', 15), ...of('b', 5)];
  expect(claimRequests(full, 20)).toEqual([
    { priorities: ['urgent'], limit: 1, skip: [], outboundLimit: 0, skipOutbound: [] },
  ]);
  const [first, second] = claimRequests(of('a', 15), 20);
  expect(first).toMatchObject({ priorities: ['urgent'], skip: [] });
  expect(second).toMatchObject({ skip: ['a'] });
  expect(claimRequests([...full, ...of('c', 2, 'urgent')], 20)).toEqual([]);
});

it.each([1, 2, 3, 4])('works with %i slots', (concurrency) => {
  const occupied = flooded([], 'a', 'ordinary', concurrency);
  expect(occupied.length).toBeGreaterThan(0);
  expect(occupied.length).toBeLessThanOrEqual(concurrency);
  expect(flooded([], 'a', 'outbound', concurrency)).toHaveLength(1);
  const urgent = flooded(occupied, 'a', 'urgent', concurrency);
  expect(urgent.length).toBeGreaterThan(occupied.length);
  // However many rollbacks a tenant has started, that of another one finds a slot.
  expect(slotsOf(flooded(urgent, 'b', 'urgent', concurrency), 'b')).toBeGreaterThan(0);
});
