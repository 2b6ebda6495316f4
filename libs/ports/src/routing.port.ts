import type { Actor } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';

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

export interface Route {
  deploymentId: string;
  /** Rises by one at every change. */
  generation: number;
  targets: RouteTarget[];
  affinity: RouteAffinity;
}

export interface RouteChange {
  tenantId: string;
  deploymentId: string;
  deploymentName: string;
  /** Weights sum to 100. Every target with weight > 0 must be ready: throws `revision_not_ready` otherwise. */
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
}

/** Offered by routing. The caller of every writing method holds the deployment's lock. */
export interface RoutesPort {
  current(tx: Tx, deploymentId: string): Promise<Route | undefined>;
  /**
   * Writes the next generation, publishes it to the gateways, moves the `route` holds of the revisions (INSTANCES),
   * appends `route.updated`. Repeating the route that stands changes nothing and returns it.
   */
  apply(tx: Tx, change: RouteChange): Promise<Route>;
  /** Removes the route: the state before the first one. Used if a failed rollout found none. */
  remove(tx: Tx, deploymentId: string, actor: Actor, operationId?: string): Promise<void>;
  /** The one live operation that may move this deployment's traffic, or undefined. */
  trafficOwner(tx: Tx, deploymentId: string): Promise<string | undefined>;
  /** Takes the `traffic_owner` row; throws `operation_in_progress` naming the holder when another has it. */
  takeTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void>;
  /** Deletes the row if this operation holds it. */
  releaseTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void>;
}
