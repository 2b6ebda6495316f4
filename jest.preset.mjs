import { readFileSync } from 'node:fs';
import os from 'node:os';
import { thirdPartyModules } from './tools/test-runner/bundles.mjs';

const swcrc = JSON.parse(readFileSync(new URL('./.swcrc', import.meta.url), 'utf8'));

/** For `nx test` of one library. Its suites wait more than they compute, so there are more workers than cores. */
const ALONE = {
  // A number, because Jest ignores the `%` of a percentage over a hundred: `300%` means 300 workers.
  maxWorkers: os.availableParallelism() * 3,
  reporters: ['default', new URL('./tools/test-runner/jest-tally-reporter.mjs', import.meta.url).pathname],
};

/**
 * Every project spreads this preset. Tests resolve workspace libs to their sources, so only `platform-database` must be
 * built, and third-party packages to bundles.
 */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@slipway/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }],
    // CommonJS parts of Fastify require these ESM-only packages, and Jest cannot require(esm) below Node 24.9.
    '/node_modules/(cookie|content-disposition)/.+\\.js$': [
      '@swc/jest',
      { swcrc: false, jsc: { target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!cookie/|content-disposition/)'],
  moduleNameMapper: { ...(await thirdPartyModules()), '^(\\.{1,2}/.*)\\.js$': '$1' },
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  // A machine that builds and tests at the same time is slow; a hanging test is still found.
  testTimeout: 60_000,
  testMatch: ['<rootDir>/{src,test}/**/*.spec.ts'],
  globalSetup: new URL('./tools/test-runner/jest-global-setup.mjs', import.meta.url).pathname,
  globalTeardown: new URL('./tools/test-runner/jest-global-teardown.mjs', import.meta.url).pathname,
  // A run of several projects sets its own, and Jest warns about those of a project.
  ...(process.env.SLIPWAY_TEST_GROUPED ? {} : ALONE),
};
