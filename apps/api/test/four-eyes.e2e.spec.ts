import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import { bootApi, expectStatus, type Answer, type TestApi } from './boot-api.js';
import { HostedProvider, makeKey } from './hosted-provider.js';

const PLANS = '/api/v1/autopilot/plans';
const CHANGE = { op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 };
interface Owner {
  type: 'person' | 'service';
  id: string;
}
const ALICE: Owner = { type: 'person', id: 'alice' };
const BOB: Owner = { type: 'person', id: 'bob' };
const OPERATOR: Owner = { type: 'person', id: 'operator' };

const provider = new HostedProvider({ ada: 'org', grace: 'org' });
let api: TestApi;
let alice: string;
let bob: string;
let ada: string;
let grace: string;
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  await provider.start([await makeKey('first')]);
  api = await bootApi(provider.environment);
  [alice, bob] = [await mint(ALICE, api.token, 'admin'), await mint(BOB)];
  for (const user of ['ada', 'grace']) {
    const identity = { provider: 'acme-id', external_organization_id: 'org', external_user_id: user };
    const body = { ...identity, access: true, scopes: ['admin'] };
    expectStatus(await api.send('PUT', '/api/v1/console/access', { body }), 200);
  }
  [ada, grace] = [await provider.token('ada'), await provider.token('grace')];
});

afterAll(async () => {
  await api?.close();
  await provider.stop();
});

beforeEach(async () => {
  chat = await activeDeployment(api, `chat-${(count += 1)}`);
});

function mint(owner?: Owner, maker = api.token, scope: 'operator' | 'admin' = 'operator'): Promise<string> {
  return api.createToken(scope, maker, owner);
}

async function policy(promotion: object): Promise<void> {
  const path = `/api/v1/deployments/${chat.name}/continual-optimization/policy`;
  expectStatus(await api.send('PUT', path, { body: { promotion } }), 200);
}

async function plan(token: string): Promise<any> {
  const body = { deployment: chat.name, changes: [CHANGE] };
  return expectStatus(await api.send('POST', PLANS, { body, token }), 201);
}

function decide(made: { id: string; content_digest: string }, token: string, verb = 'approve'): Promise<Answer> {
  return api.send('POST', `${PLANS}/${made.id}/${verb}`, { body: { plan_digest: made.content_digest }, token });
}

const codeOf = (answer: Answer): string => answer.body?.error?.code ?? String(answer.status);
const approvalOf = async (answer: Answer): Promise<any> => expectStatus(answer, 200).approval;

it('10.5: the bootstrap token mints alice and bob; alice plans, bob approves', async () => {
  const made = await plan(alice);
  expect(made.created_by).toMatchObject({ type: 'token', owner: ALICE });
  expect(await approvalOf(await decide(made, bob))).toMatchObject({
    state: 'approved',
    approvals: [{ by: { type: 'token', id: expect.any(String), owner: BOB }, digest: made.content_digest }],
  });
});

it('10.5: a token belongs to the owner it was asked for, else to its maker, and remembers whose tokens led to it', async () => {
  const ofAlice = expectStatus(
    await api.send('POST', '/api/v1/tokens', { body: { name: 'more', scopes: ['admin'] }, token: alice }),
    201,
  );
  expect(ofAlice).toMatchObject({ owner: ALICE, minters: [OPERATOR, ALICE] });
  const body = { name: 'bot', scopes: ['viewer'], owner: { type: 'service', id: 'ci' } };
  const bot = expectStatus(await api.send('POST', '/api/v1/tokens', { body, token: ofAlice.token }), 201);
  expect(bot).toMatchObject({ owner: body.owner, minters: [OPERATOR, ALICE] });
  expect(expectStatus(await api.send('GET', '/api/v1/whoami', { token: bot.token }), 200).owner).toEqual(body.owner);
  expect(expectStatus(await api.send('GET', '/api/v1/whoami'), 200).owner).toEqual(OPERATOR);
  const { data } = expectStatus(await api.send('GET', '/api/v1/tokens?limit=200'), 200);
  expect(data.find((token: any) => token.id === bot.id)).toMatchObject({
    owner: body.owner,
    minters: [OPERATOR, ALICE],
  });
  const first = expectStatus(
    await api.send('GET', '/api/v1/whoami', { token: (await api.createTenant('acme')).token }),
    200,
  );
  expect(first.owner).toEqual({ type: 'person', id: 'admin' });
  const owner = { type: 'person', id: 'zoe' };
  const { token } = expectStatus(await api.send('POST', '/api/v1/tenants', { body: { name: 'zoo', owner } }), 201);
  expect(expectStatus(await api.send('GET', '/api/v1/whoami', { token }), 200).owner).toEqual(owner);
});

it.each([
  ['', 422],
  ['x'.repeat(256), 422],
  [' bob', 422],
  ['user:ada', 422],
  ['User:ada', 422],
  ['token:tok_boot', 422],
  ['x'.repeat(255), 201],
])('10.5: the name of an owner: %j is %i', async (id, status) => {
  const body = { name: 'n', scopes: ['viewer'], owner: { type: 'person', id } };
  expect((await api.send('POST', '/api/v1/tokens', { body })).status).toBe(status);
});

it('10.5: one person approves nothing of their own, with no token that is theirs or came from one of theirs', async () => {
  const made = await plan(alice);
  const second = await mint(undefined, alice, 'admin');
  const invented = await mint(BOB, alice, 'admin');
  const grandchild = await mint({ type: 'person', id: 'dave' }, invented);
  const named = await mint(ALICE);
  for (const token of [alice, second, invented, grandchild, named])
    expect(codeOf(await decide(made, token))).toBe('self_approval_forbidden');
  expect(codeOf(await decide(await plan(api.token), bob))).toBe('self_approval_forbidden');
  expect((await api.send('GET', `${PLANS}/${made.id}`)).body.approval).toMatchObject({ state: 'pending', version: 0 });
  await policy({ prevent_self_approval: false });
  expect((await decide(await plan(alice), invented)).status).toBe(200);
});

it('10.5: two tokens of one person count once', async () => {
  await policy({ approvals_required: 2 });
  const made = await plan(alice);
  const [other, carol] = [await mint(BOB), await mint({ type: 'person', id: 'carol' })];
  const answers = await Promise.all([bob, other, bob, other].map((token) => decide(made, token)));
  for (const answer of answers) expect(await approvalOf(answer)).toMatchObject({ state: 'pending', version: 1 });
  expect(await approvalOf(await decide(made, carol))).toMatchObject({ state: 'approved', version: 2 });
});

it('10.5: approvals of before that were two tokens of one person count once', async () => {
  await policy({ approvals_required: 2 });
  const made = await plan(alice);
  await decide(made, bob);
  await owned(
    api,
    `insert into autopilot_plan_decisions (tenant_id, plan_id, decision, actor, owner, digest)
     select tenant_id, plan_id, decision, '{"type":"token","id":"tok_old"}', owner, digest from autopilot_plan_decisions where plan_id = $1`,
    [made.id],
  );
  const body = { plan_id: made.id };
  expect(codeOf(await api.send('POST', `/api/v1/deployments/${chat.name}/rollouts`, { body }))).toBe(
    'plan_not_approved',
  );
});

it('10.5: a service approves nothing, whatever the policy; it may take back what it proposed', async () => {
  const optimizer = await mint({ type: 'service', id: 'optimizer' });
  await policy({ prevent_self_approval: false });
  for (const made of [await plan(alice), await plan(optimizer)])
    expect(codeOf(await decide(made, optimizer))).toBe('approver_not_a_person');
  const ofService = await mint(undefined, await mint({ type: 'service', id: 'ci' }, api.token, 'admin'));
  expect(codeOf(await decide(await plan(alice), ofService))).toBe('approver_not_a_person');
  const proposed = await plan(optimizer);
  expect((await decide(proposed, optimizer, 'reject')).body.approval).toMatchObject({
    state: 'rejected',
    ended: { by: { type: 'token', owner: { type: 'service', id: 'optimizer' } } },
  });
});

it('10.5: a person of the hosted provider is the same one with the tokens they mint', async () => {
  const body = { name: 'mine', scopes: ['operator'] };
  const minted = expectStatus(await api.send('POST', '/api/v1/tokens', { body, token: ada }), 201);
  expect(minted).toMatchObject({
    owner: { type: 'person', id: 'user:ada' },
    minters: [{ type: 'person', id: 'user:ada' }],
  });
  expect(codeOf(await decide(await plan(ada), minted.token))).toBe('self_approval_forbidden');
  expect(codeOf(await decide(await plan(minted.token), ada))).toBe('self_approval_forbidden');
  // A token that is named like an identity is of somebody else.
  expect((await decide(await plan(await mint({ type: 'person', id: 'ada' })), ada)).status).toBe(200);
  expect(await approvalOf(await decide(await plan(ada), grace))).toMatchObject({
    approvals: [{ by: { type: 'user', id: 'grace', owner: { type: 'person', id: 'user:grace' } } }],
  });
});

it('10.5: a policy may take approvals only of identities signed in at the hosted provider', async () => {
  await policy({ require_hosted_identity: true });
  const made = await plan(alice);
  expect(codeOf(await decide(made, bob))).toBe('hosted_identity_required');
  const ofGrace = await mint(undefined, grace);
  expect(codeOf(await decide(made, ofGrace))).toBe('hosted_identity_required');
  // Who can mint tokens can invent the planner, too; the identity behind it is the provider's.
  const invented = await mint({ type: 'service', id: 'bot' }, await mint(ALICE, ada, 'admin'));
  const planned = await plan(invented);
  expect(codeOf(await decide(planned, ada))).toBe('self_approval_forbidden');
  expect((await decide(planned, grace)).status).toBe(200);
  expect((await decide(made, ada)).status).toBe(200);
});

it('10.5: an approval that was replayed by its key is still one, of the person who gave it', async () => {
  await policy({ approvals_required: 2 });
  const made = await plan(alice);
  const send = (token: string) =>
    api.send('POST', `${PLANS}/${made.id}/approve`, {
      body: { plan_digest: made.content_digest },
      token,
      headers: { 'idempotency-key': `of-${made.id}` },
    });
  const first = expectStatus(await send(bob), 200);
  expect(expectStatus(await send(alice), 200)).toEqual(first);
  expect((await api.send('GET', `${PLANS}/${made.id}`)).body.approval).toMatchObject({ state: 'pending', version: 1 });
});
