import type { InstanceSpec, UnitLocation } from '@slipway/target-driver';
import { isDeepStrictEqual } from 'node:util';
import { namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { TargetUnavailableError } from './start.js';

interface Server {
  /**
   * The address of the API server, which identifies the cluster: a stronger identity needs rights over the whole
   * cluster.
   */
  server: string;
}

/** Where a unit of the tenant is made: in which cluster, and in which namespace. */
export function unitLocation(
  { server }: Server,
  config: KubernetesTargetConfig,
  { tenantName }: Pick<InstanceSpec, 'tenantName'>,
): UnitLocation {
  return { kind: 'kubernetes', server, namespace: namespaceFor(config, tenantName) };
}

/** The namespaces of these locations, each once. */
export function namespacesMade(madeAt: readonly UnitLocation[]): string[] {
  return [...new Set(madeAt.flatMap(({ namespace }) => namespace ?? []))];
}

/** Why units of these locations cannot be seen: their API server is another one. Undefined if they can. */
export function otherCluster(own: Server, madeAt: readonly UnitLocation[]): string | undefined {
  const server = madeAt.map((one) => one['server']).find((one) => one !== undefined && one !== own.server);
  if (server === undefined) return undefined;
  return `its unit was made in the cluster ${server}, and the target now names ${own.server}`;
}

/**
 * Makes sure that the caller has stored the location. The configuration may have changed since.
 * @throws TargetUnavailableError if it has not; the caller tries again, with the new location
 */
export function assertMayMake(location: UnitLocation, madeAt: readonly UnitLocation[] | undefined): void {
  if (madeAt === undefined || madeAt.some((one) => isDeepStrictEqual(one, location))) return;
  throw new TargetUnavailableError(new Error('the configuration of the target has just changed'));
}
