import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  declarePassport,
  findPassport,
  passportId,
  passportKey,
  revokePassport,
  routeFollowers,
  withdrawBackend,
  type PassportRow,
} from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
let upstreams: TestUpstream[];

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstreams = [await TestUpstream.start('one'), await TestUpstream.start('two'), await TestUpstream.start('three')];
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

async function deployment(
  name: string,
  weights: Record<string, number>,
  affinity?: { mode: 'none' | 'soft'; ttl_seconds: number },
): Promise<void> {
  const generation = await installation.route(tenant, name, weights, affinity);
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${name}`, generation)).toEqual({ gateways: 1, behind: 0 }),
  );
}

const chat = (model: string, session: string): Promise<TestAnswer> =>
  ask(gateway, token, { body: { model }, headers: { 'x-session-id': session } });
const who = (answer: TestAnswer): string => answer.body.choices[0].message.content;
const affinity = (answer: TestAnswer): string | null => answer.headers.get('x-affinity');
const byName = (name: string): TestUpstream =>
  upstreams.find((upstream) => name.endsWith(upstream.name)) as TestUpstream;

async function passport(answer: TestAnswer, check: (row: PassportRow) => void): Promise<PassportRow> {
  const row = await untilPassing(async () => {
    const found = await findPassport(installation.db, tenant, answer.headers.get('x-context-passport') as string);
    check(found as PassportRow);
    return found as PassportRow;
  });
  return row;
}

it('keeps a session on one instance, shows it within a second, and stores no session key', async () => {
  await installation.revision(tenant, 'keep', 'keep-1', upstreams);
  await deployment('keep', { 'keep-1': 100 });
  const first = await chat('keep', 'my secret session');
  expect(affinity(first)).toBe('miss');
  for (let round = 0; round < 10; round += 1) {
    const again = await chat('keep', 'my secret session');
    expect([affinity(again), who(again)]).toEqual(['hit', who(first)]);
  }
  const key = passportKey(installation.keyRing);
  expect(first.headers.get('x-context-passport')).toBe(passportId(key, tenant, 'dep_keep', 'my secret session'));
  const row = await passport(first, (found) => expect(found?.requests).toBe(11));
  expect(row).toMatchObject({
    hits: 10,
    misses: 1,
    rebinds: 0,
    last_rebind_reason: null,
    source: 'x-session-id',
    subject: token.id,
    revision_name: 'keep-1',
    mode: 'soft',
    ttl_seconds: 600,
  });
  expect(row.expires_at.getTime() - row.last_seen_at.getTime()).toBe(600_000);
  expect(JSON.stringify(row)).not.toContain('secret');
  expect(affinity(await ask(gateway, token, { body: { model: 'keep' } }))).toBe('off');
});

it('takes the session key from the header, then session_id, prompt_cache_key, user', async () => {
  const key = passportKey(installation.keyRing);
  const sent = { model: 'keep', session_id: 'b', prompt_cache_key: 'c', user: 'd' };
  const of = async (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    (await ask(gateway, token, { body, headers })).headers.get('x-context-passport');
  expect(await of(sent, { 'x-session-id': 'a' })).toBe(passportId(key, tenant, 'dep_keep', 'a'));
  expect(await of(sent)).toBe(passportId(key, tenant, 'dep_keep', 'b'));
  expect(await of({ ...sent, session_id: undefined })).toBe(passportId(key, tenant, 'dep_keep', 'c'));
  expect(await of({ ...sent, session_id: '', prompt_cache_key: 7 })).toBe(passportId(key, tenant, 'dep_keep', 'd'));
  expect(await of({ model: 'keep' })).toBeNull();
});

it('rebinds when the instance fails or leaves, and reports why', async () => {
  await installation.revision(tenant, 'rebind', 'rebind-1', upstreams.slice(0, 2));
  await deployment('rebind', { 'rebind-1': 100 });
  const first = await chat('rebind', 's');
  const bound = byName(who(first));
  const other = upstreams.slice(0, 2).find((upstream) => upstream !== bound) as TestUpstream;
  bound.behaviour = (_request, response) => respondJson(response, 503, {});
  const moved = await chat('rebind', 's');
  expect([affinity(moved), who(moved)]).toEqual(['rebind', `answer of ${other.name}`]);
  bound.behaviour = (request, response) => bound.answer(request, response);
  expect(affinity(await chat('rebind', 's'))).toBe('hit');
  await passport(moved, (row) =>
    expect(row).toMatchObject({ requests: 3, misses: 1, hits: 1, rebinds: 1, last_rebind_reason: 'target_unhealthy' }),
  );

  await installation.revision(tenant, 'rebind', 'rebind-1', [bound]);
  const left = await untilPassing(async () => {
    const answer = await chat('rebind', 's');
    expect(who(answer)).toBe(`answer of ${bound.name}`);
    return answer;
  });
  expect(affinity(left)).toBe('rebind');
});

it('follows its slot to another revision: weights_changed while the old one serves, revision_retired when it is gone', async () => {
  await installation.revision(tenant, 'slots', 'slots-1', upstreams.slice(0, 1));
  await installation.revision(tenant, 'slots', 'slots-2', upstreams.slice(1, 2));
  await deployment('slots', { 'slots-1': 100 });
  expect(affinity(await chat('slots', 's'))).toBe('miss');
  await deployment('slots', { 'slots-1': 0, 'slots-2': 100 });
  const changed = await chat('slots', 's');
  expect([affinity(changed), changed.headers.get('x-slipway-revision')]).toEqual(['rebind', 'slots-2']);
  await passport(changed, (row) => expect(row?.last_rebind_reason).toBe('weights_changed'));
  await installation.revision(tenant, 'slots', 'slots-3', upstreams.slice(2, 3));
  await deployment('slots', { 'slots-3': 100 });
  await withdrawBackend(installation.db, 'rev_slots-2');
  const lost = await untilPassing(async () => {
    const answer = await chat('slots', 's');
    expect(answer.headers.get('x-slipway-revision')).toBe('slots-3');
    return answer;
  });
  await passport(lost, (row) => expect(row?.rebinds).toBe(2));
});

it('lets a binding expire, and has none with affinity none', async () => {
  await installation.revision(tenant, 'brief', 'brief-1', upstreams);
  await deployment('brief', { 'brief-1': 100 }, { mode: 'soft', ttl_seconds: 1 });
  const first = await chat('brief', 's');
  const row = await passport(first, (found) => expect(found?.requests).toBe(1));
  await untilPassing(() => expect(Date.now()).toBeGreaterThan(row.expires_at.getTime()));
  expect(affinity(await chat('brief', 's'))).toBe('rebind');
  await passport(first, (found) => expect(found?.last_rebind_reason).toBe('ttl_expired'));

  await deployment('brief', { 'brief-1': 100 }, { mode: 'none', ttl_seconds: 600 });
  const off = await chat('brief', 's2');
  expect(affinity(off)).toBe('off');
  await passport(off, (found) =>
    expect(found).toMatchObject({ mode: 'none', requests: 1, hits: 0, misses: 0, instance_id: null }),
  );
});

it('has no affinity for a revoked passport', async () => {
  const first = await chat('keep', 'revoked');
  const id = first.headers.get('x-context-passport') as string;
  await passport(first, (row) => expect(row?.requests).toBe(1));
  await revokePassport(installation.db, tenant, id);
  await untilPassing(async () => expect(affinity(await chat('keep', 'revoked'))).toBe('off'));
  const before = (await findPassport(installation.db, tenant, id)) as PassportRow;
  expect(affinity(await chat('keep', 'revoked'))).toBe('off');
  expect(((await findPassport(installation.db, tenant, id)) as PassportRow).revoked_at).toEqual(before.revoked_at);
  // Declared again, it starts anew: its binding is forgotten.
  const { deployment_id: deploymentId, deployment_name: deploymentName, key_hash: keyHash } = before;
  const anew = { id, tenantId: tenant, deploymentId, deploymentName, keyHash, subject: null };
  await declarePassport(installation.db, { ...anew, mode: 'soft', ttlSeconds: 600 });
  const affinities: (string | null)[] = [];
  await untilPassing(async () => {
    affinities.push(affinity(await chat('keep', 'revoked')));
    expect(affinities.at(-1)).not.toBe('off');
  });
  expect(affinities.at(-1)).toBe('miss');
});

it('takes over bindings into the next process, before its first request', async () => {
  const sessions = Array.from({ length: 12 }, (_, n) => `lasting ${n}`);
  const before: TestAnswer[] = [];
  for (const session of sessions) before.push(await chat('keep', session));
  for (const answer of before) await passport(answer, (row) => expect(row?.requests).toBe(1));
  const next = await installation.gateway();
  for (const [n, session] of sessions.entries()) {
    const answer = await ask(next, token, { body: { model: 'keep' }, headers: { 'x-session-id': session } });
    expect([session, affinity(answer), who(answer)]).toEqual([session, 'hit', who(before[n] as TestAnswer)]);
  }
});
