import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReadAudit } from '@slipway/platform-mutations';
import { Schedule } from '@slipway/platform-scheduling';
import { activeDeployment, owned } from '@slipway/platform-testing/contract';
import { COMMANDS } from '@slipway/registry';
import { bootApi, expectStatus, type TestApi } from './boot-api.js';

const PLANS = '/api/v1/autopilot/plans';

let api: TestApi;
let reader: string;
let plan: any;

beforeAll(async () => {
  api = await bootApi();
  reader = await api.createPerson('bob');
  const chat = await activeDeployment(api, 'chat');
  const change = { op: 'replace', path: '/scaling/min_replicas', value: 2 };
  plan = expectStatus(await api.send('POST', PLANS, { body: { deployment: chat.name, changes: [change] } }), 201);
});

afterAll(async () => {
  await api?.close();
});

async function reads(action: string): Promise<any[]> {
  await api.app.get(ReadAudit, { strict: false }).flush();
  return expectStatus(await api.send('GET', `/api/v1/audit?action=${action}`), 200).data;
}

it('10.10.10: a plan that somebody else reads is in the audit, once for many times and in the chain as other rows', async () => {
  for (let i = 0; i < 20; i += 1)
    expectStatus(
      await api.send('GET', `${PLANS}/${plan.id}`, { token: reader, headers: { 'x-request-id': `r-${i}` } }),
      200,
    );
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
  expect(
    (await api.send('GET', `${PLANS}/${plan.id}`, { token: reader, headers: { 'if-none-match': plan.etag } })).status,
  ).toBe(304);
  const told = (await reads('plan.read')).map((one) => one.reads);
  expect([told.length, told[0] + told[1]]).toEqual([2, 21]);
  await api.app.get(Schedule, { strict: false }).runNow('audit');
  expect(await COMMANDS['audit-verify']!(api.config, [])).toBe(0);
  await owned(api, `update audit_log set reads = reads + 1 where action = 'plan.read'`);
  expect(await COMMANDS['audit-verify']!(api.config, [])).toBe(1);
});

it('10.10.11: a list shows plans too; what who wrote a plan reads of it, and what another tenant cannot, is in no row', async () => {
  const before = await reads('plan.read');
  expectStatus(await api.send('GET', `${PLANS}/${plan.id}`), 200);
  expectStatus(await api.send('GET', PLANS), 200);
  const stranger = (await api.createTenant('stranger')).token;
  expectStatus(await api.send('GET', `${PLANS}/${plan.id}`, { token: stranger }), 404);
  expect(await reads('plan.read')).toEqual(before);
  expect(await reads('plan.list')).toEqual([]);
  expectStatus(await api.send('GET', PLANS, { token: reader }), 200);
  expectStatus(await api.send('GET', `${PLANS}?deployment=chat`, { token: reader }), 200);
  expect((await reads('plan.list')).map((one) => one.resource_name).sort()).toEqual(['*', 'chat']);
});

it('10.10.12: a plan is read all the same where its row cannot be written', async () => {
  const other = await api.createPerson('carol');
  await owned(api, `alter table audit_log add constraint full_up check (false) not valid`);
  try {
    expectStatus(await api.send('GET', `${PLANS}/${plan.id}`, { token: other }), 200);
    await api.app.get(ReadAudit, { strict: false }).flush();
  } finally {
    await owned(api, `alter table audit_log drop constraint full_up`);
  }
  expectStatus(await api.send('GET', `${PLANS}/${plan.id}`, { token: other }), 200);
  expect(await reads('plan.read')).toContainEqual(expect.objectContaining({ reads: 1, resource_name: plan.id }));
});
