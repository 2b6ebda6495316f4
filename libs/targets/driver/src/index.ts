export type {
  EngineDescription,
  InstanceRef,
  InstanceSpec,
  InstanceState,
  Observation,
  SpecIssue,
  TargetDriver,
} from './driver.js';
export { TargetConfigError, assertSpec } from './driver.js';
export { TARGET_KINDS, type DriverHost, type TargetKind } from './target-kind.js';
export { HealthHistory, probeHealth } from './health.js';
export type { HealthAnswer } from './health.js';
