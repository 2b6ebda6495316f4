import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { activeDeployment, owned } from '@slipway/platform-testing/contract';
import { COMMANDS } from '@slipway/registry';
import type { Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { codeOf } from '../harness/refusals.js';

let api: TestApi;
let slipway: Slipway;
let token: string;
let reader: Slipway;
let plan: any;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
  token = await api.createPerson('bob');
  reader = api.slipway(token);
  const chat = await activeDeployment(api, 'chat');
  const change = { op: 'replace' as const, path: '/scaling/min_replicas', value: 2 };
  plan = await slipway.autopilot.plans.create({ deployment: chat.name, changes: [change] });
});

afterAll(async () => {
  await api?.close();
});

async function reads(action: 'plan.read' | 'plan.list' | 'logs.read' | 'secret.used'): Promise<any[]> {
  await api.app.get(ReadAudit, { strict: false }).flush();
  return (await slipway.audit.list({ action })).data;
}

it('audits a plan that another person reads: once for many reads, and in the chain like other rows', async () => {
  for (let i = 0; i < 20; i += 1) await reader.autopilot.plans.get(plan.id, { headers: { 'x-request-id': `r-${i}` } });
  const [row, ...more] = await reads('plan.read');
  expect(more).toEqual([]);
  expect(row).toMatchObject({
    actor: expect.stringMatching(/^token:tok_/),
    resource_type: 'plan',
    resource_name: plan.id,
    request_id: 'r-0',
  });
  expect(row).not.toHaveProperty('seal');
  await owned(api, `update audit_reads set listed_at = listed_at - interval '1 hour'`);
  const unchanged = reader.autopilot.plans.get(plan.id, { headers: { 'if-none-match': plan.etag } });
  await expect(unchanged).rejects.toMatchObject({ status: 304 });
  const told = (await reads('plan.read')).map((one) => one.reads);
  expect([told.length, told[0] + told[1]]).toEqual([2, 21]);
  await api.app.get(Schedule, { strict: false }).runNow('audit');
  expect(await COMMANDS['audit-verify']!(api.config, [])).toBe(0);
  await owned(api, `update audit_log set reads = reads + 1 where action = 'plan.read'`);
  expect(await COMMANDS['audit-verify']!(api.config, [])).toBe(1);
});

it("audits lists of plans too, but neither reads by the plan's author nor failed reads by another tenant", async () => {
  const before = await reads('plan.read');
  await slipway.autopilot.plans.get(plan.id);
  await slipway.autopilot.plans.list();
  const stranger = api.slipway((await api.createTenant('stranger')).token);
  expect(await codeOf(stranger.autopilot.plans.get(plan.id))).toBe('404 plan_not_found');
  expect(await reads('plan.read')).toEqual(before);
  expect(await reads('plan.list')).toEqual([]);
  await reader.autopilot.plans.list();
  await reader.autopilot.plans.list({ deployment: 'chat' });
  expect((await reads('plan.list')).map((one) => one.resource_name).sort()).toEqual(['*', 'chat']);
});

it('a plan can be read even if its audit row cannot be written', async () => {
  const other = api.slipway(await api.createPerson('carol'));
  await owned(api, `alter table audit_log add constraint full_up check (false) not valid`);
  try {
    await other.autopilot.plans.get(plan.id);
    await api.app.get(ReadAudit, { strict: false }).flush();
  } finally {
    await owned(api, `alter table audit_log drop constraint full_up`);
  }
  await other.autopilot.plans.get(plan.id);
  expect(await reads('plan.read')).toContainEqual(expect.objectContaining({ reads: 1, resource_name: plan.id }));
});
