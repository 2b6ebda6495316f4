import { dependsOnNeighbours, shareOf, type SharedTarget, type TargetShare } from '@slipway/platform-config';
import { prepared, Tx, type Database } from '@slipway/platform-database';
import { HAS_SECOND_TENANT, tenantName } from '@slipway/platform-http/auth';

/** Run it as the system: tenants do not see the list of tenants. */
const READ_NEIGHBOURS = prepared('instances-read-neighbours', `select ${HAS_SECOND_TENANT} as "hasNeighbours"`);

/**
 * Whether the installation has a second tenant, for `shareOf`. Reads nothing and returns false if no share of the targets
 * depends on it.
 */
export async function hasNeighbours(source: Tx | Database, targets: readonly SharedTarget[]): Promise<boolean> {
  if (!targets.some(dependsOnNeighbours)) return false;
  const [found] =
    source instanceof Tx
      ? await source.lookAsSystem<{ hasNeighbours: boolean }>(READ_NEIGHBOURS, [])
      : await source.read<{ hasNeighbours: boolean }>('system', READ_NEIGHBOURS, []);
  return found?.hasNeighbours ?? false;
}

/** Returns what a tenant may use of a target now. */
export async function shareOfTenant(tx: Tx, target: SharedTarget, tenantId: string): Promise<TargetShare> {
  return shareOf(target, await tenantName(tx, tenantId), await hasNeighbours(tx, [target]));
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
