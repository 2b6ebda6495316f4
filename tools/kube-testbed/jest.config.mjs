import preset from '../../jest.preset.mjs';

// Starts a control plane instead of a database.
export default {
  ...preset,
  displayName: 'kube-testbed',
  globalSetup: new URL('./jest-global-setup.mjs', import.meta.url).pathname,
  globalTeardown: new URL('./jest-global-teardown.mjs', import.meta.url).pathname,
};
