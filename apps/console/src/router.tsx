import type { ComponentType } from 'react';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect, Link } from '@tanstack/react-router';
import { Frame } from './layout/frame.js';
import { ScreenHead } from './ui/panel.js';

function LostScreen() {
  return (
    <>
      <ScreenHead title="Page not found" />
      <p>
        The address may belong to another version of Slipway.{' '}
        <Link to="/deployments" className="underline">
          Go to deployments
        </Link>
      </p>
    </>
  );
}

const root = createRootRoute({ component: Frame, notFoundComponent: LostScreen });

/**
 * The state that a screen keeps in the address, so that a link shows what its sender saw: texts, all of them optional.
 */
const textsOf = (search: Record<string, unknown>): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(search).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
  );

const screen = <Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: textsOf, component: lazyRouteComponent(load, name) });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: textsOf,
  // Keeps the search of the address: a failed sign-in writes its reason there.
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/deployments', search, replace: true });
  },
});

const routes = root.addChildren([
  home,
  screen('/first-run', () => import('./screens/first-run/first-run-screen.js'), 'FirstRunScreen'),
  screen('/deployments', () => import('./screens/deployments/deployments-screen.js'), 'DeploymentsScreen'),
  screen('/deployments/$name', () => import('./screens/deployment/deployment-screen.js'), 'DeploymentScreen'),
  screen('/operations', () => import('./screens/operations/operations-screen.js'), 'OperationsScreen'),
  screen('/operations/$id', () => import('./screens/operations/operation-screen.js'), 'OperationScreen'),
  screen('/plans', () => import('./screens/plans/plans-screen.js'), 'PlansScreen'),
  screen('/plans/calibration', () => import('./screens/plans/calibration-screen.js'), 'CalibrationScreen'),
  screen('/plans/$id', () => import('./screens/plans/plan-screen.js'), 'PlanScreen'),
  screen('/playground', () => import('./screens/playground/playground-screen.js'), 'PlaygroundScreen'),
  screen('/targets', () => import('./screens/targets/targets-screen.js'), 'TargetsScreen'),
  screen('/sandboxes', () => import('./screens/sandboxes/sandboxes-screen.js'), 'SandboxesScreen'),
  screen('/sandboxes/$id', () => import('./screens/sandboxes/sandbox-screen.js'), 'SandboxScreen'),
  screen('/catalog', () => import('./screens/catalog/catalog-screen.js'), 'CatalogScreen'),
  screen('/model-apis', () => import('./screens/model-apis/model-apis-screen.js'), 'ModelApisScreen'),
  screen('/access', () => import('./screens/access/access-screen.js'), 'AccessScreen'),
  screen('/tokens', () => import('./screens/tokens/tokens-screen.js'), 'TokensScreen'),
  screen('/tenants', () => import('./screens/tenants/tenants-screen.js'), 'TenantsScreen'),
  screen('/webhooks', () => import('./screens/webhooks/webhooks-screen.js'), 'WebhooksScreen'),
  screen('/audit', () => import('./screens/audit/audit-screen.js'), 'AuditScreen'),
  screen('/system', () => import('./screens/system/system-screen.js'), 'SystemScreen'),
]);

export const router = createRouter({ routeTree: routes, defaultPreload: 'intent', scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
