import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { codeOf, isRefused } from '../harness/refusals.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

let stack: Stack;
let slipway: Slipway;

beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
  slipway = stack.slipway();
  await slipway.deployments.create({ name: 'chat' });
  const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' }, scaling: { min_replicas: 2 } };
  await stack.operation(await stack.rollOut('chat', { spec, strategy: { type: 'immediate' } }));
  await until('the gateway serves', async () => (await ask('warm-up')).status === 200, 10_000);
});
afterAll(() => stack?.stop());

async function ask(session: string): Promise<{ status: number; passport: string; affinity: string | null }> {
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json', 'x-session-id': session },
    body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await answer.text();
  return {
    status: answer.status,
    passport: answer.headers.get('x-context-passport') as string,
    affinity: answer.headers.get('x-affinity'),
  };
}

const passport = (id: string) => slipway.contextPassports.get(id);
const isReadable = async (id: string) => !(await isRefused(passport(id), 'context_passport_not_found'));

it('shows the passport that a gateway made within a second, and the state of the session', async () => {
  const first = await ask('secret session key');
  expect(first.affinity).toBe('miss');
  await until('the record is readable', () => isReadable(first.passport), 20_000);
  for (let time = 0; time < 3; time += 1) expect((await ask('secret session key')).affinity).toBe('hit');
  await until('the requests are counted', async () => (await passport(first.passport)).stats.requests === 4, 20_000);
  const record = await passport(first.passport);
  expect(record).toEqual({
    id: first.passport,
    state: 'active',
    session: { key_hash: expect.stringMatching(/^[0-9a-f]{64}$/), source: 'x-session-id' },
    subject: expect.any(String),
    created_at: expect.any(String),
    last_seen_at: expect.any(String),
    expires_at: expect.any(String),
    affinity: {
      guarantee: 'best_effort',
      mode: 'soft',
      deployment: 'chat',
      revision: 'chat-00001',
      target: expect.stringMatching(/^tgt_[0-9a-f]{16}$/),
      bound_at: expect.any(String),
      ttl_seconds: 600,
    },
    stats: { requests: 4, hits: 3, misses: 1, rebinds: 0, last_rebind_reason: null },
  });
  const [row] = await stack.query('select to_jsonb(p)::text as text from dataplane_passports p where id = $1', [
    first.passport,
  ]);
  expect(row.text).not.toContain('secret session key');
});

it('declares a session that the gateway then knows by the same passport', async () => {
  const made = await slipway.contextPassports.create({
    deployment: 'chat',
    session_id: 'declared',
    subject: 'alice',
    affinity: { ttl_seconds: 60 },
  });
  expect(made).toMatchObject({
    state: 'active',
    subject: 'alice',
    session: { source: 'declared' },
    affinity: { mode: 'soft', ttl_seconds: 60, target: null, revision: null },
    stats: { requests: 0 },
  });
  expect((await ask('declared')).passport).toBe(made.id);
  // An HTTP client can read the headers.
  const again = await stack.answerTo(({ contextPassports }) =>
    contextPassports.create({ deployment: 'chat', session_id: 'declared' }),
  );
  expect([again.status, again.body.id, again.headers.get('location')]).toEqual([
    201,
    made.id,
    `/api/v1/context-passports/${made.id}`,
  ]);
});

it('revokes: the affinity ends at once and permanently, and a repeated call gets the same answer', async () => {
  const { passport: id } = await ask('to revoke');
  await until('the record is readable', () => isReadable(id), 20_000);
  expect((await ask('to revoke')).affinity).toBe('hit');
  expect(await slipway.contextPassports.revoke(id)).toMatchObject({ state: 'revoked', affinity: { target: null } });
  await until('the gateway has heard of it', async () => (await ask('to revoke')).affinity === 'off', 20_000);
  expect((await ask('to revoke')).affinity).toBe('off');
  expect(await slipway.contextPassports.revoke(id)).toMatchObject({ id, state: 'revoked' });
  expect(await passport(id)).toMatchObject({ state: 'revoked', affinity: { target: null, bound_at: null } });
  await slipway.contextPassports.create({ deployment: 'chat', session_id: 'to revoke' });
  await until('the session has affinity again', async () => (await ask('to revoke')).affinity === 'hit', 20_000);
});

it('a session whose revoked record is deleted begins anew, with affinity', async () => {
  const { passport: id } = await ask('to delete');
  await until('the record is readable', () => isReadable(id), 20_000);
  expect(await codeOf(slipway.contextPassports.delete(id))).toBe('409 context_passport_active');
  await slipway.contextPassports.revoke(id);
  await until('the gateway has heard of it', async () => (await ask('to delete')).affinity === 'off', 20_000);
  const revoked: string[] = [];
  for await (const one of slipway.contextPassports.list({ deployment: 'chat', state: 'revoked' })) revoked.push(one.id);
  expect(revoked).toContain(id);
  expect(await slipway.contextPassports.delete(id)).toEqual({ id, state: 'deleted' });
  await until('the session has affinity again', async () => (await ask('to delete')).affinity === 'hit', 20_000);
  await until('it has a new record', () => isReadable(id), 20_000);
});

it('shows a passport as expired once its time is over', async () => {
  const short = { deployment: 'chat', session_id: 'short', affinity: { ttl_seconds: 1 } };
  const { id } = await slipway.contextPassports.create(short);
  await until('it has expired', async () => (await passport(id)).state === 'expired', 20_000);
});

it('shows nothing of another tenant', async () => {
  const { contextPassports } = stack.as((await slipway.tenants.create({ name: 'stranger' })).token!);
  const { passport: id } = await ask('mine');
  await until('the record is readable', () => isReadable(id), 20_000);
  expect(await codeOf(contextPassports.get(id))).toBe('404 context_passport_not_found');
  expect(await codeOf(contextPassports.revoke(id))).toBe('404 context_passport_not_found');
  const theirs = { deployment: 'chat', session_id: 'mine' };
  expect(await codeOf(contextPassports.create(theirs))).toBe('404 deployment_not_found');
  expect((await passport(id)).state).toBe('active');
});
