// What clients take from the contracts of the product. The packed SDK has these files in it (bundle.mjs), because it imports no package.
export {
  checkAuditRows,
  type AuditChainCheck,
  type AuditChainLink,
  type AuditCheckOptions,
  type AuditRowMark,
  type ChainedAuditRow,
} from '@slipway/contracts/audit-chain';
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
