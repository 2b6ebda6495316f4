import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { renderMetrics } from '@slipway/platform-observability';
import { TwinDriver } from '@slipway/target-driver/twin';
import { TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

const LISTS_PODS = 'the ServiceAccount may not list pods in namespace models';

let bed: TargetBed;
let api: InstancesProcess;

beforeEach(async () => {
  bed = await TargetBed.create(4, { withTwin: true });
  api = await bed.process('api');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await bed.dispose();
});

/** Returns the state of a target that an api shows to a viewer. The api runs nothing itself. */
async function told(isOperatorTenant = true, name = 'twin') {
  const who = { tenantId: 'ten_a', tenantName: 'default', isOperatorTenant };
  const { data } = await api.context.get(TargetsService).list(who, { limit: 50 });
  const target = data.find((one) => one.name === name);
  return { status: target?.status, conditions: target?.conditions };
}

const WELL = { status: 'ok', conditions: [] };
const ill = (message: string) => ({ status: 'degraded', conditions: [{ type: 'degraded', message }] });
const isTold = async (status: string) =>
  until(`the target to be ${status}`, async () => (await told()).status === status, told);
const metric = async () =>
  (await renderMetrics()).body.split('\n').find((line) => /^slipway_target_degraded\{.*target="twin"/.test(line));

it('a degraded target is shown in the list of targets, in the log once for each change, and as a metric', async () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
  const said = () =>
    [...warn.mock.calls, ...log.mock.calls].map(String).filter((line) => line.startsWith('target twin'));
  await bed.process('worker');
  await until('its health to be known', async () => (await metric())?.endsWith(' 0') === true, metric);
  expect(await told()).toEqual(WELL);
  expect(said()).toEqual([]);

  bed.cluster.health = { state: 'degraded', message: LISTS_PODS };
  await isTold('degraded');
  expect(await told()).toEqual(ill(LISTS_PODS));
  expect(await told(true, 'local')).toEqual(WELL);
  expect(await metric()).toMatch(/ 1$/);
  const looks = jest.spyOn(TwinDriver.prototype, 'health');
  await until('three more looks', async () => looks.mock.calls.length > 3);
  looks.mockRestore();
  expect(said()).toEqual([`target twin is degraded: ${LISTS_PODS}`]);

  bed.cluster.health = { state: 'degraded' };
  await until('the other reason', async () => (await told()).conditions?.[0]?.message !== LISTS_PODS, told);
  expect(await told()).toEqual(ill('its driver reports no reason'));
  bed.cluster.health = { state: 'ok' };
  await isTold('ok');
  expect(await told()).toEqual(WELL);
  expect(await metric()).toMatch(/ 0$/);
  expect(said()).toEqual([
    `target twin is degraded: ${LISTS_PODS}`,
    'target twin is degraded: its driver reports no reason',
    'target twin has recovered',
  ]);
});

it('objects that a target refuses are a condition of it, although the target itself works', async () => {
  const refused = '1 object of kind PodDisruptionBudget cannot be created in namespace models: exceeded quota.';
  bed.cluster.health = { state: 'ok', refused };
  await bed.process('worker');
  await isTold('degraded');
  expect(await told()).toEqual(ill(refused));
  bed.cluster.health = { state: 'degraded', message: LISTS_PODS, refused };
  await until('both', async () => (await told()).conditions?.[0]?.message !== refused, told);
  expect(await told()).toEqual(ill(`${LISTS_PODS} ${refused}`));
  bed.cluster.health = { state: 'ok' };
  await isTold('ok');
});

it('other tenants see that a target is degraded, but not why', async () => {
  bed.cluster.health = { state: 'degraded', message: LISTS_PODS };
  await bed.process('worker');
  await isTold('degraded');
  expect(await told(false)).toEqual(ill('the target is degraded; its operator can see the reason'));
});

it('the leader of a target reports its health, also after a time without a leader', async () => {
  bed.cluster.health = { state: 'degraded', message: LISTS_PODS };
  const worker = await bed.process('worker');
  await isTold('degraded');
  await worker.close('SIGTERM');
  expect(await metric()).toBeUndefined();
  expect(await told()).toEqual(ill(LISTS_PODS));
  bed.cluster.health = { state: 'ok' };
  await bed.process('worker');
  await isTold('ok');
});

it('the message of a driver is cut, and characters that Postgres refuses are replaced', async () => {
  bed.cluster.health = { state: 'degraded', message: `no\0 answer: ${'x'.repeat(10_000)}` };
  await bed.process('worker');
  await isTold('degraded');
  const [condition] = (await told()).conditions ?? [];
  expect(condition?.message).toHaveLength(2_000);
  expect(condition?.message).toMatch(/^no\uFFFD answer: x+$/);
});
