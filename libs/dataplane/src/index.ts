import { DataplaneRoutes1700000000600 } from './migrations/1700000000600-dataplane-routes.js';
import { DataplaneBackends1700000000601 } from './migrations/1700000000601-dataplane-backends.js';
import { DataplanePublished1700000000602 } from './migrations/1700000000602-dataplane-published.js';
import { DataplaneGateways1700000000603 } from './migrations/1700000000603-dataplane-gateways.js';
import { DataplaneRequestStats1700000000604 } from './migrations/1700000000604-dataplane-request-stats.js';
import { DataplaneHistograms1700000000606 } from './migrations/1700000000606-dataplane-histograms.js';
import { DataplanePassportCounts1700000000607 } from './migrations/1700000000607-dataplane-passport-counts.js';
import { DataplaneRequestUsage1700000000609 } from './migrations/1700000000609-dataplane-request-usage.js';
import { DataplaneHold1700000000610 } from './migrations/1700000000610-dataplane-hold.js';
import { DataplaneAsleep1700000000620 } from './migrations/1700000000620-dataplane-asleep.js';
import { DataplaneInstancesInFlight1700000000630 } from './migrations/1700000000630-dataplane-instances-in-flight.js';
import { DataplaneOutcomes1700000000631 } from './migrations/1700000000631-dataplane-outcomes.js';
import { DataplaneSilentRequests1700000000640 } from './migrations/1700000000640-dataplane-silent-requests.js';
import { DataplaneDemand1700000000650 } from './migrations/1700000000650-dataplane-demand.js';
import { DataplaneRecords1700000000651 } from './migrations/1700000000651-dataplane-records.js';
import { DataplaneMediaUrls1700000000652 } from './migrations/1700000000652-dataplane-media-urls.js';
import { DataplaneLoads1700000000611 } from './migrations/1700000000611-dataplane-loads.js';
import { DataplaneGatewayRole1700000000608 } from './migrations/1700000000608-dataplane-gateway-role.js';
import { DataplanePassports1700000000605 } from './migrations/1700000000605-dataplane-passports.js';

export const migrations = [
  DataplaneRoutes1700000000600,
  DataplaneBackends1700000000601,
  DataplanePublished1700000000602,
  DataplaneGateways1700000000603,
  DataplaneRequestStats1700000000604,
  DataplanePassports1700000000605,
  DataplaneHistograms1700000000606,
  DataplanePassportCounts1700000000607,
  DataplaneRequestUsage1700000000609,
  DataplaneGatewayRole1700000000608,
  DataplaneHold1700000000610,
  DataplaneLoads1700000000611,
  DataplaneAsleep1700000000620,
  DataplaneInstancesInFlight1700000000630,
  DataplaneOutcomes1700000000631,
  DataplaneSilentRequests1700000000640,
  DataplaneDemand1700000000650,
  DataplaneRecords1700000000651,
  DataplaneMediaUrls1700000000652,
];

export * from './publishing/published.js';
export {
  backendContext,
  instanceKey,
  openPublished,
  sealed,
  supplierContext,
  type InstanceKeyParts,
} from './publishing/credentials.js';
export type { NamedSql, QueryClient } from './sql.js';
export { SLOT_COUNT, slotOf, type WeightedRevision } from './publishing/slots.js';
export {
  publishMediaUrls,
  publishRoute,
  StaleGenerationError,
  unpublishRoute,
  type RoutePublication,
} from './publishing/route.query.js';
export { publishBackend, withdrawBackend, type BackendPublication } from './publishing/backend.query.js';
export { publishSlug, withdrawSlug, type SlugPublication } from './publishing/slug.query.js';
export {
  drainCountsOf,
  followedCount,
  forgetGateway,
  gatewaysBehind,
  gatewayStatuses,
  inFlight,
  inFlightOfInstances,
  loadsOf,
  reportGateway,
  routeFollowers,
  type DrainCounts,
  type GatewayLoad,
  type GatewayReport,
  type GatewayStatus,
  type RevisionLoad,
} from './gateways/gateway.query.js';
export * from './statistics/histogram.js';
export * from './statistics/load.js';
export {
  compare,
  classifyRegression,
  hasMoreTraffic,
  loadsInCommon,
  type ComparisonBasis,
  type Comparison,
  type LoadBucket,
  type ComparisonCriterion,
  type MissingComparison,
} from './statistics/comparison.js';
export { BUCKET_LOG_VARIANCE, estimate, type Estimate, type WeightedHistogram } from './statistics/estimate.js';
export { emptyRecord, type ArrivalCount, type RecordSeconds, type ServiceRecord } from './records/record.js';
export { mergeRecords, mergeWindows } from './records/merge.js';
export { mergeNextRecords, noteEnginePeaks, type EngineReport } from './records/merge-job.query.js';
export * from './records/record.query.js';
export * from './statistics/sequential.js';
export * from './statistics/stats.query.js';
export { statsSeries, type Series, type SeriesStep } from './statistics/series.query.js';
export { deleteUsageOlderThan, writeUsage, type RequestCounts, type UsageWindow } from './statistics/usage.query.js';
export {
  failuresOf,
  kindestValue,
  normalQuantile,
  QUANTILES,
  readMetric,
  wilsonInterval,
  type MetricReading,
} from './statistics/statistics.js';
export * from './passports/passport.js';
export * from './passports/passport.query.js';
export * from './publishing/snapshot.query.js';
