export { OperationHarness, testConfig, type OperationRecord } from './operation-harness.js';
export {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
} from './operation-properties.js';
export { platformMigrations, platformModules } from './platform-modules.js';
