export { createTestDatabase, type TestDatabase } from './test-database.js';
export { OperationHarness, testConfig, type OperationRecord } from './operation-harness.js';
export { everyCrashResumes, everyStepIsRepeatable, everyStepMayFail, type OperationCase } from './operation-properties.js';
