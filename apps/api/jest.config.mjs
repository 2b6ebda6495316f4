import preset from '../../jest.preset.mjs';

/** Many of these suites wait for what they have started, and a whole run ends with them: Jest by itself would leave a core idle. */
export default {
  ...preset,
  displayName: 'api',
  maxWorkers: '100%',
  testSequencer: new URL('../../tools/test-runner/jest-longest-first.mjs', import.meta.url).pathname,
};
