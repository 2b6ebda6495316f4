export {
  actorText,
  isSameActor,
  systemActor,
  WORKER,
  type Actor,
  isActorText,
  isAmongOwners,
  isSameOwner,
  OWNER_TYPES,
  personOf,
  type Owner,
  hashSecret,
  parseToken,
  tokenText,
  checkToken,
  type TokenFacts,
  type TokenParts,
  type TokenCheckResult,
} from './identity.js';
export {
  DEFAULT_PORT,
  EVERY_TENANT,
  isCanonicalHost,
  namesTenant,
  OPERATOR_TENANT,
  operatorPatternProblem,
  originOf,
  originsFor,
  parseAllowPattern,
  type AllowEntry,
  type AllowPattern,
} from './allow-pattern.js';
export { counted, countedAre } from './counts.js';
export {
  auditHashText,
  auditLinkFault,
  checkAuditRows,
  FIRST_AUDIT_HASH,
  isAuditRowChanged,
  type AuditChainCheck,
  type AuditChainLink,
  type AuditCheckOptions,
  type AuditLinkFault,
  type AuditRowMark,
  type ChainedAuditRow,
} from './audit-chain.js';
export { AUDIT_ACTIONS, AUDITED_RESOURCES } from './audit-actions.js';
export * from './channels.js';
export * from './engine.js';
export { EVENT_TYPES, type EventDescription } from './event-types.js';
export { namesOf, patternsOf } from './name-patterns.js';
export {
  contextNumbers,
  errorInText,
  errorInValue,
  errorKind,
  parsedJson,
  type EngineError,
  type ErrorKind,
} from './engine-error.js';
export { definedFailures, defineFailures, FAILURE_CODES, type FailureCode } from './failures.js';
export {
  ANY_MEDIA_URL,
  DATA_URLS_ONLY,
  isMediaAllowed,
  MEDIA_URL_RULES,
  mediaHostOf,
  mediaSourceOf,
  type MediaSource,
  type MediaUrls,
} from './media-urls.js';
export {
  DISTRIBUTIONS,
  isBeyond,
  isDistribution,
  isMetric,
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
export {
  DISRUPTIONS,
  PERMANENT_REASONS,
  CAPACITY_REASONS,
  OBSERVATION_REASONS,
  FIXABLE_REASONS,
  type ObservationReason,
} from './observation.js';
export { PATH_RESOURCES } from './path-resources.js';
export {
  effectiveScaling,
  endpointUrlField,
  endpointUrls,
  MOST_ENDPOINT_URLS,
  READY_PROBES,
  SPEC_MEMBERS,
  type ArgValue,
  type EffectiveScaling,
  type EndpointSpec,
  type EnvValue,
  type ModelSpec,
  type ReadyProbe,
  type RevisionSpec,
  type ScalingSpec,
} from './revision-spec.js';
export { serverUrls, type ServerUrls } from './server-urls.js';
export { withoutOuterSlashes, withoutTrailingSlashes } from './slashes.js';
export * from './statuses.js';
export { hasOtherContentType, hasUtf8Charset, mediaTypeOf, preferredMediaType } from './http/media-types.js';
export { lineOfUnknownMethod, type RefusedInput } from './http/request-line.js';
export { retryAfterMs } from './http/retry-after.js';
export * from './time-limit.js';
export { beginningOf, ordinalOf, TRIMMED_LINE } from './text.js';
