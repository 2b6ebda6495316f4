export { actorText, isSameActor, systemActor, WORKER, type Actor } from './actor.js';
export {
  DEFAULT_PORT,
  isCanonicalHost,
  operatorPatternProblem,
  parseAllowPattern,
  type AllowPattern,
} from './allow-pattern.js';
export * from './channels.js';
export { defineFailures, FAILURE_CODES, type FailureCode } from './failures.js';
export {
  DISTRIBUTIONS,
  isBeyond,
  isDistribution,
  METRIC_NAMES,
  metricOf,
  METRICS,
  STATS,
  type Distribution,
  type DistributionMetric,
  type Metric,
  type MetricDefinition,
  type RateMetric,
  type Stat,
} from './metrics.js';
export { DISRUPTIONS, type ObservationReason } from './observation.js';
export { SPEC_MEMBERS, type ArgValue, type EnvValue, type ModelSpec, type RevisionSpec } from './revision-spec.js';
export * from './statuses.js';
export {
  hashSecret,
  parseToken,
  tokenText,
  tokenVerdict,
  type TokenFacts,
  type TokenParts,
  type TokenVerdict,
} from './tokens.js';
