import { EVERY_TENANT } from '@slipway/contracts';
import type { ConfigReader } from './config-reader.js';
import type { Schema } from './setting-schemas.js';

/**
 * The most of a target that one tenant may use: a part below 1 of its instances and devices, a number of instances, or
 * `all`.
 */
export type TenantShare = number | 'all';

/** The settings of a target that decide about shares. */
export interface SharedTarget {
  /** The most instances it runs, over all tenants; undefined = no limit. */
  max_instances?: number;
  /** Names of the tenants that may use it; undefined = all. It is invisible to others. */
  tenants?: string[];
  /** The most that one tenant may use. Read it through `shareOf`, which knows the default. */
  share_per_tenant?: TenantShare;
  share_by_tenant?: Record<string, TenantShare>;
}

/** The share of a tenant of a target. Infinity and 1 mean that only the target itself limits it. */
export interface TargetShare {
  instances: number;
  /** Of the devices, above 0 and at most 1. */
  partOfDevices: number;
}

/** The default on a target that several tenants may use: another tenant always finds the other half. */
const DEFAULT_SHARE = 0.5;
/** The highest limit of instances that a file may set. */
export const MAX_INSTANCES = 10_000;
const SHARE = {
  anyOf: [
    { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    { type: 'integer', minimum: 1, maximum: MAX_INSTANCES },
    { const: 'all' },
  ],
};

export const SHARE_KEYS = {
  share_per_tenant: {
    ...SHARE,
    description:
      'The most that one tenant may use: a part of the instances and devices (0.25), a number of instances (4), or all. Default: 0.5 if several tenants may use the target, at least one instance',
  },
  share_by_tenant: {
    type: 'object',
    additionalProperties: SHARE,
    description: 'Shares of single tenants, by tenant name; they replace share_per_tenant',
  },
} satisfies Record<string, Schema>;

/** Reads the shares of one target. Problems are added to the reader, by key path. */
export function readShares(
  reader: ConfigReader,
  path: string,
  bag: Record<string, unknown>,
): Pick<SharedTarget, 'share_per_tenant' | 'share_by_tenant'> {
  const { share_per_tenant: every, share_by_tenant: single } = bag;
  return {
    ...(every === undefined ? {} : { share_per_tenant: readShare(reader, `${path}.share_per_tenant`, every) }),
    ...(single === undefined
      ? {}
      : {
          share_by_tenant: Object.fromEntries(
            Object.entries(reader.map(`${path}.share_by_tenant`, single)).map(([name, share]) => [
              name,
              readShare(reader, `${path}.share_by_tenant.${name}`, share),
            ]),
          ),
        }),
  };
}

function readShare(reader: ConfigReader, path: string, value: unknown): TenantShare {
  if (value === 'all') return value;
  const isPart = typeof value === 'number' && value > 0 && value < 1;
  const isNumber = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_INSTANCES;
  if (isPart || isNumber) return value as number;
  reader.fail(path, `must be a part between 0 and 1, a whole number of instances from 1 to ${MAX_INSTANCES}, or all`);
  return 'all';
}

/**
 * Returns what a tenant may use of a target.
 * @param hasNeighbours whether the installation has a second tenant. The default leaves nothing unused while there is
 * none
 */
export function shareOf(
  { max_instances: max = Number.POSITIVE_INFINITY, ...config }: SharedTarget,
  tenantName: string,
  hasNeighbours: boolean,
): TargetShare {
  const { share_by_tenant: single = {}, share_per_tenant: every } = config;
  const fallback = hasNeighbours && dependsOnNeighbours(config) ? DEFAULT_SHARE : 'all';
  const share = Object.hasOwn(single, tenantName) ? (single[tenantName] as TenantShare) : (every ?? fallback);
  if (share === 'all') return { instances: Number.POSITIVE_INFINITY, partOfDevices: 1 };
  if (share >= 1) return { instances: share, partOfDevices: 1 };
  return { instances: Math.max(1, Math.floor(share * max)), partOfDevices: share };
}

/** Whether `shareOf` gives a different answer if the installation has a second tenant. */
export function dependsOnNeighbours(target: Pick<SharedTarget, 'tenants' | 'share_per_tenant'>): boolean {
  return target.share_per_tenant === undefined && isShared(target);
}

/** Whether more than one tenant may use it. */
function isShared({ tenants }: Pick<SharedTarget, 'tenants'>): boolean {
  return tenants === undefined || tenants.includes(EVERY_TENANT) || new Set(tenants).size > 1;
}
