import { shareOf, type SharedTarget, type TargetShare } from '@slipway/platform-config';
import { prepared, type Tx } from '@slipway/platform-database';
import { HAS_SECOND_TENANT, tenantNameOf } from '@slipway/platform-http/auth';

/**
 * Reads the name of tenant $1, and whether the installation has a second tenant. Run it as the system: tenants do not see
 * the list of tenants.
 */
export const READ_NEIGHBOURS = prepared(
  'instances-read-neighbours',
  `select ${HAS_SECOND_TENANT} as "hasNeighbours", ${tenantNameOf('$1::text')} as "tenantName"`,
);

export interface Neighbours {
  hasNeighbours: boolean;
  /** Empty if there is no tenant with the id. */
  tenantName: string;
}

/** Returns what a tenant may use of a target now. */
export async function shareOfTenant(tx: Tx, target: SharedTarget, tenantId: string): Promise<TargetShare> {
  const [found] = await tx.lookAsSystem<Neighbours>(READ_NEIGHBOURS, [tenantId]);
  const { tenantName, hasNeighbours } = found as Neighbours;
  return shareOf(target, tenantName, hasNeighbours);
}

/** Whether a tenant that uses some devices may also use others. Devices that it uses already add nothing. */
export function fitsShare(used: ReadonlySet<string>, more: readonly { uuid: string }[], most: number): boolean {
  const added = more.filter(({ uuid }) => !used.has(uuid)).length;
  return added === 0 || used.size + added <= most;
}

/** Returns the devices that a tenant may use, of `total`. One instance can always start, whatever it needs. */
export function devicesOfShare({ partOfDevices }: TargetShare, total: number, ofOneInstance: number): number {
  return partOfDevices === 1 ? total : Math.max(ofOneInstance, Math.floor(partOfDevices * total));
}
