import type { Tx } from '@slipway/platform-database';
import type { OperationRow } from '@slipway/platform-durable/operations';
import type { Route, RoutesPort } from '@slipway/ports/routing';

interface RouteToRestore {
  deploymentId: string;
  deploymentName: string;
  foundRoute: Route | null;
}

/** What `putBackRoute` does, for the message of the step that does it. */
export function putBackMessage(foundRoute: Route | null): string {
  return foundRoute ? 'the route it found is back' : 'it found no route, and there is none again';
}

/** Ends the way back of an operation's traffic: with the route that it found, ready or not, and with none if it found none. */
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
