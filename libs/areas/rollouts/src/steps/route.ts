import type { Tx } from '@slipway/platform-database';
import type { OperationRow } from '@slipway/platform-durable/operations';
import type { Route, RoutesPort } from '@slipway/ports/routing';
import { requestContext } from '@slipway/platform-http';

interface RouteToRestore {
  deploymentId: string;
  deploymentName: string;
  foundRoute: Route | null;
}

/** The effect of `putBackRoute`, as a message of its step. */
export function putBackMessage(foundRoute: Route | null): string {
  return foundRoute
    ? 'The previous route is restored.'
    : 'The route is removed, because the deployment had none before.';
}

/**
 * Ends the unwind of an operation's traffic: restores the earlier route, ready or not, or removes the route if there
 * was none.
 */
export async function putBackRoute(
  tx: Tx,
  routes: RoutesPort,
  operation: OperationRow<unknown>,
  { deploymentId, deploymentName, foundRoute }: RouteToRestore,
): Promise<void> {
  if (!foundRoute) return routes.remove(tx, deploymentId, { ...operation.requestedBy }, operation.id);
  const { targets, affinity } = foundRoute;
  await routes.apply(tx, {
    tenantId: operation.tenantId,
    deploymentId,
    deploymentName,
    targets,
    affinity,
    updatedBy: operation.requestedBy,
    reason: operation.reason,
    operationId: operation.id,
    isRestore: true,
    keepPreviousSeconds: 0,
  });
}

/** The path at which the route of a deployment is set. */
function routePath(deploymentName: string): string {
  return `/api/v1/deployments/${deploymentName}/route`;
}

/**
 * Part of the message of every rollout that leaves its deployment without traffic, because after a rollout a client
 * does not expect a 503.
 */
function noRoute(deploymentName: string): string {
  return `the deployment has no route. Set one with PUT ${routePath(deploymentName)}, or create a rollout with strategy immediate.`;
}

export function warnOfNoRoute(deploymentName: string): void {
  const message = `The candidate will receive no traffic, because ${noRoute(deploymentName)}`;
  requestContext().warnings.push({ code: 'no_route', field: 'strategy', message });
}

/** The message of a finished rollout that has proven a candidate ready and moved no traffic. */
export function candidateMessage(
  route: Route | undefined,
  { deploymentName, revisionName }: { deploymentName: string; revisionName: string },
): string {
  if (!route) return `${revisionName} is ready, but ${noRoute(deploymentName)}`;
  return `${revisionName} is ready. To send traffic to it, set the route with PUT ${routePath(deploymentName)}.`;
}
