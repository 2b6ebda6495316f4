import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { loadConfig, OperatorConfigError, parseOperatorConfig, QUOTAS, quotasOf, type QuotaConfig } from './index.js';

const configOf = (quotas = '', perToken = 100): QuotaConfig => ({
  operator: parseOperatorConfig(`targets: []\n${quotas}`),
  rateLimit: { readsPerMinute: perToken, mutationsPerMinute: perToken },
  gateway: { limits: { requestsPerMinute: perToken, maxConcurrencyPerToken: perToken } },
});
const problemsOf = (quotas: string): string[] => {
  try {
    configOf(quotas);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};

describe('quotas', () => {
  it('are the defaults of the table if the file is silent, and four times the limit of a token for rates', () => {
    const quotas = quotasOf(configOf(), 'acme');
    for (const [name, spec] of Object.entries(QUOTAS))
      expect([name, quotas[name as keyof typeof QUOTAS]]).toEqual([name, 'default' in spec ? spec.default : 400]);
    expect(quotasOf(configOf('quotas:'), 'acme')).toEqual(quotas);
  });

  it('of a tenant override those of the file, and those of the file override the defaults', () => {
    const config = configOf(
      'quotas: {tokens: 7, deployments: 8, reads_per_minute: 9, tenants: {acme: {tokens: 3, mutations_per_minute: 0}}}',
    );
    expect(quotasOf(config, 'acme')).toMatchObject({
      tokens: 3,
      deployments: 8,
      reads_per_minute: 9,
      mutations_per_minute: 0,
      webhooks: 20,
    });
    expect(quotasOf(config, 'other')).toMatchObject({ tokens: 7, mutations_per_minute: 400 });
    // A name that every object has as a property is not a tenant of the file.
    expect(quotasOf(config, 'constructor')).toEqual(quotasOf(config, 'other'));
  });

  it('have no rate limit for a tenant if a token has none', () => {
    expect(quotasOf(configOf('', 0), 'acme')).toMatchObject({
      reads_per_minute: 0,
      mutations_per_minute: 0,
      inference_requests_per_minute: 0,
      inference_concurrency: 0,
    });
  });

  it.each([
    ['quotas: 7', /^quotas must be a mapping/],
    ['quotas: {tokns: 1}', /^quotas\.tokns is not a known key/],
    ['quotas: {tokens: 0}', /^quotas\.tokens must be a whole number from 1 to/],
    ['quotas: {webhooks: 1.5}', /^quotas\.webhooks must be a whole number/],
    ['quotas: {webhooks: "20"}', /^quotas\.webhooks must be a whole number/],
    ['quotas: {sandbox_bytes: -1}', /^quotas\.sandbox_bytes must be/],
    ['quotas: {tenants: [acme]}', /^quotas\.tenants must be a mapping/],
    ['quotas: {tenants: {Acme & Sons: 7}}', /^quotas\.tenants\.Acme & Sons must be a mapping/],
    ['quotas: {tenants: {acme: {tokens: x}}}', /^quotas\.tenants\.acme\.tokens must be/],
    ['quotas: {tenants: {acme: {tenants: {}}}}', /^quotas\.tenants\.acme\.tenants is not a known key/],
  ])('are refused by key path: %s', (source, expected) => {
    expect(problemsOf(source)).toEqual([expect.stringMatching(expected)]);
  });

  it('are listed with their defaults in docker/slipway.config.yaml, and nothing else is', () => {
    const file = readFileSync(new URL('../../../../docker/slipway.config.yaml', import.meta.url), 'utf8');
    const shown = [...file.matchAll(/^# {3}([a-z_]+): (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]);
    const env = { DATABASE_URL: 'postgres://here/db', SLIPWAY_SECRET_KEY: Buffer.alloc(32).toString('base64') };
    expect(Object.fromEntries(shown)).toEqual(quotasOf(loadConfig(env, tmpdir()), 'acme'));
  });
});
