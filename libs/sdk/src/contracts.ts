// The contracts of the product that clients use. The packed SDK contains these files (bundle.mjs), because it imports
// no package.
export {
  checkAuditRows,
  type AuditChainCheck,
  type AuditChainLink,
  type AuditCheckOptions,
  type AuditRowMark,
  type ChainedAuditRow,
} from '@slipway/contracts/audit-chain';
export { isProduction, shownDeploymentState, type DeploymentFacts } from '@slipway/contracts/deployment-state';
export { EVENT_TYPES, type EventDescription } from '@slipway/contracts/event-types';
export {
  DISTRIBUTIONS,
  isBeyond,
  isMetric,
  metricOf,
  METRICS,
  type Distribution,
  type Metric,
  type MetricDefinition,
} from '@slipway/contracts/metrics';
export { withoutTrailingSlashes } from '@slipway/contracts/slashes';
export {
  LONGEST_TIMER_MS,
  joinSignals,
  timeLimit,
  withinTime,
  type JoinedSignal,
  type TimeLimit,
} from '@slipway/contracts/time-limit';
