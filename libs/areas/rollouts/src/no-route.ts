import { requestContext } from '@slipway/platform-http';
import type { Route } from '@slipway/ports/routing';

/** Where the route of a deployment is set. */
export function routePath(deploymentName: string): string {
  return `/api/v1/deployments/${deploymentName}/route`;
}

/** Said wherever a rollout ends that leaves its deployment without traffic: nobody who has just rolled out expects a 503. */
export function noRoute(deploymentName: string): string {
  return `no route: PUT ${routePath(deploymentName)}, or roll out with strategy immediate`;
}

export function warnOfNoRoute(deploymentName: string): void {
  const message = `the candidate will take no traffic: ${noRoute(deploymentName)}`;
  requestContext().warnings.push({ code: 'no_route', field: 'strategy', message });
}

/** What a finished rollout says that has proven a candidate ready and moved no traffic. */
export function candidateMessage(
  route: Route | undefined,
  { deploymentName, revisionName }: { deploymentName: string; revisionName: string },
): string {
  if (!route) return `${revisionName} is ready; ${noRoute(deploymentName)}`;
  return `${revisionName} is ready and takes no traffic until PUT ${routePath(deploymentName)} gives it some`;
}
