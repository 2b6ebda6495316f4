import { describe, expect, it } from '@jest/globals';
import { parseOperatorConfig, OperatorConfigError, shareOf, type TargetReader, type TenantShare } from './index.js';

const reader: TargetReader = { kind: 'twin', schema: { properties: {} }, read: () => ({}) };
const targetOf = (keys = '') =>
  parseOperatorConfig(`targets: [{name: local, kind: twin${keys === '' ? '' : `, ${keys}`}}]`, [reader]).targets[0]!;
const problemsOf = (keys: string): string[] => {
  try {
    targetOf(keys);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};
const instancesOf = (keys: string, tenant = 'acme', hasNeighbours = true) =>
  shareOf(targetOf(keys), tenant, hasNeighbours).instances;

describe('the share of a tenant', () => {
  it.each([
    ['max_instances: 16', 8],
    ['max_instances: 3', 1],
    ['max_instances: 1', 1],
    ['max_instances: 10, tenants: ["*"]', 5],
    ['max_instances: 10, tenants: [acme, other]', 5],
    ['max_instances: 10, tenants: [acme]', Infinity],
    ['max_instances: 10, tenants: [acme, acme]', Infinity],
    ['', Infinity],
  ])('is half of a target that several tenants may use, at least one instance: {%s}', (keys, instances) => {
    expect(instancesOf(keys)).toBe(instances);
    // Nothing is kept free for tenants that do not exist.
    expect(instancesOf(keys, 'acme', false)).toBe(Infinity);
  });

  it.each([
    ['share_per_tenant: 0.25', 4],
    ['share_per_tenant: 0.01', 1],
    ['share_per_tenant: 3', 3],
    ['share_per_tenant: all', Infinity],
    ['share_by_tenant: {acme: all}', Infinity],
    ['share_per_tenant: 2, share_by_tenant: {acme: 0.75}', 12],
    ['share_per_tenant: 2, share_by_tenant: {other: 5}', 2],
  ])('is that of the file, which also holds for one tenant alone: {max_instances: 16, %s}', (keys, instances) => {
    for (const hasNeighbours of [true, false])
      expect(instancesOf(`max_instances: 16, ${keys}`, 'acme', hasNeighbours)).toBe(
        keys.startsWith('share_by') && !hasNeighbours ? Infinity : instances,
      );
  });

  it('limits devices if it is a part, and not if it is a number of instances', () => {
    const partOf = (share: TenantShare) => shareOf({ share_per_tenant: share }, 'acme', true).partOfDevices;
    expect([partOf(0.25), partOf(4), partOf('all')]).toEqual([0.25, 1, 1]);
    expect(shareOf({}, 'acme', true).partOfDevices).toBe(0.5);
    // A name that every object has as a property is not a tenant of the file.
    expect(shareOf({ share_by_tenant: {} }, 'constructor', true).partOfDevices).toBe(0.5);
  });

  it.each([
    ['share_per_tenant: 0'],
    ['share_per_tenant: -1'],
    ['share_per_tenant: 1.5'],
    ['share_per_tenant: 10001'],
    ['share_per_tenant: none'],
    ['share_per_tenant: "4"'],
    ['share_per_tenant: null'],
    ['share_per_tenant: .nan'],
    ['share_by_tenant: {acme: 0}'],
  ])('is refused by key path: {%s}', (keys) => {
    expect(problemsOf(keys)).toEqual([
      expect.stringMatching(/^targets\[0\]\.share_(per|by)_tenant(\.acme)? must be a part between 0 and 1/),
    ]);
  });

  it('is refused as a mapping of tenants if it is none', () => {
    expect(problemsOf('share_by_tenant: 4')).toEqual(['targets[0].share_by_tenant must be a mapping']);
  });
});
