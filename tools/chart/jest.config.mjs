import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  displayName: 'chart',
  globalSetup: new URL('./test/set-up.mjs', import.meta.url).pathname,
  globalTeardown: new URL('./test/tear-down.mjs', import.meta.url).pathname,
};
