import { expect, it } from '@jest/globals';
import { ConfigError, loadConfig } from './index.js';

const BASE = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://u:p@db/slipway',
  SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
};
const HOSTED = {
  SLIPWAY_IDENTITY_ISSUER: 'https://id.example',
  SLIPWAY_IDENTITY_AUDIENCE: 'slipway',
  SLIPWAY_IDENTITY_JWKS_URL: 'https://id.example/keys',
};
const CLIENT = { SLIPWAY_IDENTITY_CLIENT_ID: 'console', SLIPWAY_PUBLIC_URL: 'https://slipway.example/' };

const problemsOf = (env: NodeJS.ProcessEnv): string[] => {
  try {
    loadConfig({ ...BASE, ...env }, '/');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

it('accepts the console’s client together with a provider and a public address', () => {
  const { console, identity } = loadConfig({ ...BASE, ...HOSTED, ...CLIENT, SLIPWAY_IDENTITY_CLIENT_SECRET: 's' }, '/');
  expect(identity).toMatchObject({ clientId: 'console', clientSecret: 's' });
  expect(console).toEqual({ isOn: true, publicUrl: 'https://slipway.example', gatewayUrl: 'http://127.0.0.1:7080' });
});

it.each<[string, NodeJS.ProcessEnv, RegExp]>([
  ['no provider', { ...CLIENT }, /^SLIPWAY_IDENTITY_CLIENT_ID requires/],
  ['no address to come back to', { ...HOSTED, SLIPWAY_IDENTITY_CLIENT_ID: 'c' }, /^SLIPWAY_PUBLIC_URL is required/],
  ['a secret of nobody', { ...HOSTED, SLIPWAY_IDENTITY_CLIENT_SECRET: 'hunter2' }, /^SLIPWAY_IDENTITY_CLIENT_ID is/],
  [
    'a provider in the open',
    { ...HOSTED, ...CLIENT, SLIPWAY_IDENTITY_ISSUER: 'http://id.example' },
    /^SLIPWAY_IDENTITY_ISSUER must use https/,
  ],
  ['an address with a path', { SLIPWAY_PUBLIC_URL: 'https://a.example/slipway' }, /^SLIPWAY_PUBLIC_URL must be a URL/],
  ['an address that is none', { SLIPWAY_PUBLIC_URL: 'a.example' }, /^SLIPWAY_PUBLIC_URL must be a URL/],
  ['a switch that is none', { SLIPWAY_CONSOLE: 'no' }, /^SLIPWAY_CONSOLE must be one of on, off/],
])('refuses %s', (_what, env, problem) => {
  const problems = problemsOf(env);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(problems[0]).not.toContain('hunter2');
});
