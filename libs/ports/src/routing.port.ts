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

/**
 * New requests wait at the gateways. The hold continues over generations that hold again, and ends with the first that
 * does not.
 */
export interface RouteHold {
  /** The longest time that one request waits, in seconds, 1..290. */
  maxSeconds: number;
  /** Expected duration of the whole hold, by the last measured starts; null if none was measured. */
  estimatedSeconds: number | null;
}

/** A current hold. Both times are by the clock of Postgres. */
export interface ActiveHold extends RouteHold {
  /** RFC 3339. */
  since: string;
  /** Seconds since then, at the time of the read. */
  heldSeconds: number;
}

export interface Route {
  deploymentId: string;
  /** Rises by one with every change. */
  generation: number;
  targets: RouteTarget[];
  affinity: RouteAffinity;
  /** Null or absent: requests are served. */
  hold?: ActiveHold | null;
}

export interface RouteChange {
  tenantId: string;
  deploymentId: string;
  deploymentName: string;
  /** Weights sum to 100. Every target with weight > 0 must be ready or asleep. @throws revision_not_ready otherwise */
  targets: RouteTarget[];
  /** Undefined keeps the current affinity of the route. */
  affinity?: RouteAffinity;
  updatedBy: Actor;
  reason?: string | null;
  operationId?: string | null;
  /** How long a revision that leaves the route stays warm. */
  keepPreviousSeconds: number;
  /**
   * A failed operation restores the route it found: readiness is not checked again, because there is no better route.
   */
  isRestore?: boolean;
  /**
   * Makes new requests wait at the gateways from this generation on. If absent, requests are served by it. Readiness is
   * not checked. Only the owner of the traffic may hold it, and its end ends the hold.
   */
  hold?: RouteHold;
}

/** Offered by routing. The caller of every writing method holds the deployment's lock. */
export interface RoutesPort {
  current(tx: Tx, deploymentId: string): Promise<Route | undefined>;
  /** The same of several, by deployment and without their holds; those without a route are left out. */
  currentOf(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, Route>>;
  /**
   * Writes the next generation, publishes it to the gateways, updates the `route` holds of the revisions (INSTANCES),
   * and appends `route.updated`. Repeating the current route changes nothing and returns it, unless it holds or held
   * requests.
   */
  apply(tx: Tx, change: RouteChange): Promise<Route>;
  /** Removes the route: the state before the first one. Used if a failed rollout found none. */
  remove(tx: Tx, deploymentId: string, actor: Actor, operationId?: string): Promise<void>;
  /** Returns the one live operation that may move this deployment's traffic, or undefined. */
  trafficOwner(tx: Tx, deploymentId: string): Promise<string | undefined>;
  /** Takes the `traffic_owner` row. @throws operation_in_progress, naming the holder, if another operation has it */
  takeTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void>;
  /** Hands the row over to another operation, together with the current hold. */
  passTraffic(tx: Tx, deploymentId: string, fromOperationId: string, toOperationId: string): Promise<void>;
  /** Deletes the row if this operation holds it, and ends its hold: the last action of a transaction. */
  releaseTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void>;
}
