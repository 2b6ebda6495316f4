import { DataplaneRoutes1700000000600 } from './migrations/1700000000600-dataplane-routes.js';
import { DataplaneBackends1700000000601 } from './migrations/1700000000601-dataplane-backends.js';
import { DataplanePublished1700000000602 } from './migrations/1700000000602-dataplane-published.js';
import { DataplaneGateways1700000000603 } from './migrations/1700000000603-dataplane-gateways.js';
import { DataplaneRequestStats1700000000604 } from './migrations/1700000000604-dataplane-request-stats.js';
import { DataplaneHistograms1700000000606 } from './migrations/1700000000606-dataplane-histograms.js';
import { DataplanePassports1700000000605 } from './migrations/1700000000605-dataplane-passports.js';

export const migrations = [
  DataplaneRoutes1700000000600,
  DataplaneBackends1700000000601,
  DataplanePublished1700000000602,
  DataplaneGateways1700000000603,
  DataplaneRequestStats1700000000604,
  DataplanePassports1700000000605,
  DataplaneHistograms1700000000606,
];

export * from './published.js';
export type { NamedSql, Queryable } from './sql.js';
export { SLOT_COUNT, slotOf, type WeightedRevision } from './slots.js';
export { publishRoute, StaleGenerationError, unpublishRoute, type RoutePublication } from './route.query.js';
export { publishBackend, withdrawBackend, type BackendPublication } from './backend.query.js';
export { publishSlug, withdrawSlug, type SlugPublication } from './slug.query.js';
export {
  followedCount,
  forgetGateway,
  inFlight,
  reportGateway,
  routeFollowers,
  type GatewayReport,
} from './gateway.query.js';
export * from './histogram.js';
export * from './stats.query.js';
export { kindestValue, measure, regression, type Measured, type Regression } from './statistics.js';
export * from './passport.js';
export * from './passport.query.js';
export * from './snapshot.query.js';
