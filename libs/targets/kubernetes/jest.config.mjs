import preset from '../../../jest.preset.mjs';

// The global setup starts a control plane instead of a database.
export default {
  ...preset,
  displayName: 'target-kubernetes',
  globalSetup: new URL('../../../tools/kube-testbed/jest-global-setup.mjs', import.meta.url).pathname,
  globalTeardown: new URL('../../../tools/kube-testbed/jest-global-teardown.mjs', import.meta.url).pathname,
};
