import preset from '../../../jest.preset.mjs';

const [tsPattern] = Object.keys(preset.transform);
const compile = ['@swc/jest', { swcrc: false, jsc: { target: 'es2022' }, module: { type: 'commonjs' } }];

export default {
  ...preset,
  displayName: 'platform-http',
  testTimeout: 30_000,
  // @fastify/static (CommonJS, serves /docs) requires content-disposition (ESM only), as the preset explains for cookie.
  transform: {
    [tsPattern]: preset.transform[tsPattern],
    '/node_modules/(cookie|content-disposition)/.+\\.js$': compile,
  },
  transformIgnorePatterns: ['/node_modules/(?!(cookie|content-disposition)/)'],
};
