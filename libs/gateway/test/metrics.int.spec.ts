import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { GatewayInstallation } from './installation.js';

const METRICS_TOKEN = 'metrics-token-of-the-operator';

let installation: GatewayInstallation;
let gateway: Gateway;
let operator: string;
let tenant: string;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  operator = await installation.tenant('operator', true);
  tenant = await installation.tenant('acme');
  gateway = await installation.gateway({}, { metricsToken: METRICS_TOKEN });
});
afterAll(() => installation.destroy());

const metrics = async (as: Parameters<typeof ask>[1], from = gateway): Promise<number> =>
  (await ask(from, as, { path: '/metrics', method: 'GET' })).status;

it('shows metrics, which name the revisions of all tenants, to admins of the operator tenant only', async () => {
  expect(await metrics(await installation.token(operator, '1 hour', ['admin']))).toBe(200);
  for (const scopes of [['viewer'], ['operator'], ['viewer', 'operator']] as const)
    expect([scopes, await metrics(await installation.token(operator, '1 hour', scopes))]).toEqual([scopes, 401]);
  for (const scopes of [['admin'], ['viewer', 'operator', 'admin']] as const)
    expect([scopes, await metrics(await installation.token(tenant, '1 hour', scopes))]).toEqual([scopes, 401]);
  expect(await metrics(await installation.token(operator, '-1 second', ['admin']))).toBe(401);
  expect(await metrics(null)).toBe(401);
});

it('shows metrics to the configured token, and to no similar one', async () => {
  expect(await metrics(METRICS_TOKEN)).toBe(200);
  for (const other of [`${METRICS_TOKEN}x`, METRICS_TOKEN.slice(1), METRICS_TOKEN.replace('m', 'M'), ''])
    expect([other, await metrics(other)]).toEqual([other, 401]);
  const without = await installation.gateway();
  for (const guess of ['undefined', '', METRICS_TOKEN])
    expect([guess, await metrics(guess, without)]).toEqual([guess, 401]);
});
