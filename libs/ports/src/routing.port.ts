import type { Actor } from '@slipway/contracts';
import type { Reads, Tx } from '@slipway/platform-database';

export const ROUTES = Symbol('RoutesPort');

export interface RouteTarget {
  revisionId: string;
  revisionName: string;
  /** 0..100; the weights of a route sum to 100. */
  weight: number;
}

export interface RouteAffinity {
  mode: 'none' | 'soft';
  ttlSeconds: number;
}

/** New requests wait at the gateways. It goes on over generations that hold anew, and ends with the first that does not. */
export interface RouteHold {
  /** The longest that one request waits, 1..290. */
  maxSeconds: number;
  /** How long all of it is expected to last, by the last measured starts; null when nothing was measured. */
  estimatedSeconds: number | null;
}

/** A hold that stands. Both are by the clock of Postgres. */
export interface ActiveHold extends RouteHold {
  /** RFC 3339. */
  since: string;
  /** Seconds since then, when it was read. */
  heldSeconds: number;
}

export interface Route {
  deploymentId: string;
  /** Rises by one at every change. */
  generation: number;
  targets: RouteTarget[];
  affinity: RouteAffinity;
  /** Null and absent: requests are served. */
  hold?: ActiveHold | null;
}

export interface RouteChange {
  tenantId: string;
  deploymentId: string;
  deploymentName: string;
  /** Weights sum to 100. Every target with weight > 0 must be ready or asleep: throws `revision_not_ready` otherwise. */
  targets: RouteTarget[];
  /** Undefined keeps the affinity the route has. */
  affinity?: RouteAffinity;
  updatedBy: Actor;
  reason?: string | null;
  operationId?: string | null;
  /** How long a revision that leaves the route stays warm. */
  keepPreviousSeconds: number;
  /** A failed operation puts back the route it found: readiness is not asked for again, because nothing better is to be had. */
  isRestore?: boolean;
  /**
   * Has the gateways keep new requests waiting from this generation on; absent: they go on by it. Readiness is not asked for. Only the
   * owner of the traffic may hold it, and its end ends the hold.
   */
  hold?: RouteHold;
}

/** Offered by routing. The caller of every writing method holds the deployment's lock. */
export interface RoutesPort {
  current(tx: Tx, deploymentId: string): Promise<Route | undefined>;
  /** The same of several, by deployment and without their holds; those without a route are left out. */
  currentOf(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, Route>>;
  /**
   * Writes the next generation, publishes it to the gateways, moves the `route` holds of the revisions (INSTANCES),
   * appends `route.updated`. Repeating the route that stands changes nothing and returns it, unless it holds or held requests.
   */
  apply(tx: Tx, change: RouteChange): Promise<Route>;
  /** Removes the route: the state before the first one. Used if a failed rollout found none. */
  remove(tx: Tx, deploymentId: string, actor: Actor, operationId?: string): Promise<void>;
  /** The one live operation that may move this deployment's traffic, or undefined. */
  trafficOwner(tx: Tx, deploymentId: string): Promise<string | undefined>;
  /** Takes the `traffic_owner` row; throws `operation_in_progress` naming the holder when another has it. */
  takeTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void>;
  /** Hands the row on to another operation, with the hold that stands. */
  passTraffic(tx: Tx, deploymentId: string, fromOperationId: string, toOperationId: string): Promise<void>;
  /** Deletes the row if this operation holds it, and with it ends a hold that stands: the last thing that a transaction does. */
  releaseTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void>;
}
