import { shareOf, type SharedTarget, type TargetShare } from '@slipway/platform-config';
import { prepared, type Tx } from '@slipway/platform-database';

/**
 * Reads the names of tenants $1, and whether the installation has a second tenant. Run it as the system: tenants do not
 * see the list of tenants.
 */
export const READ_NEIGHBOURS = prepared(
  'instances-read-neighbours',
  `select (select count(*) > 1 from (select from tenants limit 2) two) as "hasNeighbours",
     (select t.name from tenants t where t.id = $1) as "tenantName"`,
);

export interface Neighbours {
  hasNeighbours: boolean;
  /** Null if there is no tenant with the id. */
  tenantName: string | null;
}

/** Returns what a tenant may use of a target now. */
export async function shareOfTenant(tx: Tx, target: SharedTarget, tenantId: string): Promise<TargetShare> {
  const [found] = await tx.lookAsSystem<Neighbours>(READ_NEIGHBOURS, [tenantId]);
  const { tenantName, hasNeighbours } = found as Neighbours;
  return shareOf(target, tenantName ?? '', hasNeighbours);
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
