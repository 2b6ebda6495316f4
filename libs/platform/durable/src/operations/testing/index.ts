export { AreaBed, testPrincipal, type AreaAnswer, type AreaApplication, type AreaRequest } from './area-bed.js';
export { OperationHarness, testConfig, type OperationRecord } from './operation-harness.js';
export {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
} from './operation-properties.js';
export { neighboursModule, platformMigrations, platformModules } from './platform-modules.js';
