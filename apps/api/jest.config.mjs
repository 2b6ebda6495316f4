import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  displayName: 'api',
  globalSetup: new URL('./test/harness/set-up.mjs', import.meta.url).pathname,
};
