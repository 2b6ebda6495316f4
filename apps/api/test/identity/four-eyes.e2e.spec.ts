import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { activeDeployment, owned, type ActiveDeployment } from '@slipway/platform-testing/contract';
import type { AnswerOf, BodyOf, Slipway } from '@slipway/sdk';
import { bootApi, PROVIDER, type TestApi } from '../harness/boot-api.js';
import { HostedProvider, makeKey } from '../harness/hosted-provider.js';
import { codeOf, refusalOf } from '../harness/refusals.js';

type Plan = AnswerOf<'getAutopilotPlan'>;

const CHANGE = { op: 'replace' as const, path: '/scaling/min_replicas', from: 1, value: 2 };
interface Owner {
  type: 'person' | 'service';
  id: string;
}
const ALICE: Owner = { type: 'person', id: 'alice' };
const BOB: Owner = { type: 'person', id: 'bob' };
const OPERATOR: Owner = { type: 'person', id: 'operator' };

const provider = new HostedProvider({ ada: 'org', grace: 'org' });
let api: TestApi;
let slipway: Slipway;
let alice: string;
let bob: string;
let ada: string;
let grace: string;
let chat: ActiveDeployment;
let count = 0;

beforeAll(async () => {
  await provider.start([await makeKey('first')]);
  api = await bootApi(provider.environment);
  slipway = api.slipway();
  [alice, bob] = [await mint(ALICE, api.token, 'admin'), await mint(BOB)];
  for (const [user, display_name] of [
    ['ada', undefined],
    ['grace', 'Grace Hopper'],
  ] as const) {
    const identity = { provider: PROVIDER, external_organization_id: 'org', external_user_id: user, display_name };
    await slipway.consoleAccess.set({ ...identity, access: true, scopes: ['admin'] });
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

const policy = (promotion: BodyOf<'setContinualOptimizationPolicy'>['promotion']) =>
  slipway.deployments.policy.set(chat.name, { promotion });

const plan = (token: string): Promise<Plan> =>
  api.slipway(token).autopilot.plans.create({ deployment: chat.name, changes: [CHANGE] });

const decide = (made: Plan, token: string, verb: 'approve' | 'reject' = 'approve'): Promise<Plan> =>
  api.slipway(token).autopilot.plans[verb](made.id, { plan_digest: made.content_digest });

const approvalOf = async (decided: Promise<Plan>) => (await decided).approval;

it('the bootstrap token mints alice and bob; alice plans, bob approves', async () => {
  const made = await plan(alice);
  expect(made.created_by).toMatchObject({ type: 'token', owner: ALICE });
  expect(await approvalOf(decide(made, bob))).toMatchObject({
    state: 'approved',
    approvals: [{ by: { type: 'token', id: expect.any(String), owner: BOB }, digest: made.content_digest }],
  });
});

it('a token belongs to the requested owner, or else to its maker, and remembers whose tokens led to it', async () => {
  const ofAlice = await api.slipway(alice).tokens.create({ name: 'more', scopes: ['admin'] });
  expect(ofAlice).toMatchObject({ owner: ALICE, minters: [OPERATOR, ALICE] });
  const ci: Owner = { type: 'service', id: 'ci' };
  const bot = await api.slipway(ofAlice.token!).tokens.create({ name: 'bot', scopes: ['viewer'], owner: ci });
  expect(bot).toMatchObject({ owner: ci, minters: [OPERATOR, ALICE] });
  const ownerOf = async (token?: string) => (await api.slipway(token).whoAmI()).owner;
  expect([await ownerOf(bot.token!), await ownerOf()]).toEqual([ci, OPERATOR]);
  const { data } = await slipway.tokens.list({ limit: 200 });
  expect(data.find(({ id }) => id === bot.id)).toMatchObject({ owner: ci, minters: [OPERATOR, ALICE] });
  expect(await ownerOf((await api.createTenant('acme')).token)).toEqual({ type: 'person', id: 'admin' });
  const zoe: Owner = { type: 'person', id: 'zoe' };
  expect(await ownerOf((await slipway.tenants.create({ name: 'zoo', owner: zoe })).token!)).toEqual(zoe);
});

const named = (id: string) =>
  slipway.tokens.create({ name: `n-${(count += 1)}`, scopes: ['viewer'], owner: { type: 'person', id } });

it.each(['', 'x'.repeat(256), ' bob', 'user:ada', 'User:ada', 'token:tok_boot'])(
  'an owner cannot have the name %j',
  async (id) => {
    expect((await refusalOf(named(id))).status).toBe(422);
  },
);

it('the name of an owner may have 255 characters', async () => {
  expect((await named('x'.repeat(255))).owner.id).toHaveLength(255);
});

it('one person cannot approve their own plan with any token that is theirs or came from one of theirs', async () => {
  const made = await plan(alice);
  const second = await mint(undefined, alice, 'admin');
  const invented = await mint(BOB, alice, 'admin');
  const grandchild = await mint({ type: 'person', id: 'dave' }, invented);
  const another = await mint(ALICE);
  const ofBob = await slipway.tokens.create({ name: 'of bob', scopes: ['operator'], owner: BOB });
  const taken = (await api.slipway(alice).tokens.rotate(ofBob.id)).token!;
  for (const token of [alice, second, invented, grandchild, another, taken])
    expect(await codeOf(decide(made, token))).toBe('403 self_approval_forbidden');
  expect(await codeOf(decide(await plan(api.token), bob))).toBe('403 self_approval_forbidden');
  expect(await approvalOf(slipway.autopilot.plans.get(made.id))).toMatchObject({ state: 'pending', version: 0 });
  await policy({ prevent_self_approval: false });
  expect(await approvalOf(decide(await plan(alice), invented))).toMatchObject({ state: 'approved' });
});

it('two tokens of one person count once', async () => {
  await policy({ approvals_required: 2 });
  const made = await plan(alice);
  const [other, carol] = [await mint(BOB), await mint({ type: 'person', id: 'carol' })];
  const answers = await Promise.all([bob, other, bob, other].map((token) => decide(made, token)));
  for (const { approval } of answers) expect(approval).toMatchObject({ state: 'pending', version: 1 });
  expect(await approvalOf(decide(made, carol))).toMatchObject({ state: 'approved', version: 2 });
});

it('older approvals by two tokens of one person count once', async () => {
  await policy({ approvals_required: 2 });
  const made = await plan(alice);
  await decide(made, bob);
  await owned(
    api,
    `insert into autopilot_plan_decisions (tenant_id, plan_id, decision, actor, owner, digest)
     select tenant_id, plan_id, decision, '{"type":"token","id":"tok_old"}', owner, digest from autopilot_plan_decisions where plan_id = $1`,
    [made.id],
  );
  const rollout = slipway.deployments.rollouts.create(chat.name, { plan_id: made.id });
  expect(await codeOf(rollout)).toBe('409 plan_not_approved');
});

it('a service approves nothing under any policy, and may withdraw its own proposal', async () => {
  const optimizer = await mint({ type: 'service', id: 'optimizer' });
  await policy({ prevent_self_approval: false });
  for (const made of [await plan(alice), await plan(optimizer)])
    expect(await codeOf(decide(made, optimizer))).toBe('403 approver_not_a_person');
  const ofService = await mint(undefined, await mint({ type: 'service', id: 'ci' }, api.token, 'admin'));
  expect(await codeOf(decide(await plan(alice), ofService))).toBe('403 approver_not_a_person');
  const proposed = await plan(optimizer);
  expect(await approvalOf(decide(proposed, optimizer, 'reject'))).toMatchObject({
    state: 'rejected',
    ended: { by: { type: 'token', owner: { type: 'service', id: 'optimizer' } } },
  });
});

it('a person of the hosted provider and the tokens that they mint are one person', async () => {
  const minted = await api.slipway(ada).tokens.create({ name: 'mine', scopes: ['operator'] });
  expect(minted).toMatchObject({
    owner: { type: 'person', id: 'user:ada' },
    minters: [{ type: 'person', id: 'user:ada' }],
  });
  expect(await codeOf(decide(await plan(ada), minted.token!))).toBe('403 self_approval_forbidden');
  expect(await codeOf(decide(await plan(minted.token!), ada))).toBe('403 self_approval_forbidden');
  // A token with the name of an identity belongs to another person.
  const ofAnother = await plan(await mint({ type: 'person', id: 'ada' }));
  expect(await approvalOf(decide(ofAnother, ada))).toMatchObject({ state: 'approved' });
  const ofAda = await plan(ada);
  expect(ofAda.created_by).toMatchObject({ type: 'user', id: 'ada', name: null });
  expect(await approvalOf(decide(ofAda, grace))).toMatchObject({
    approvals: [
      { by: { type: 'user', id: 'grace', name: 'Grace Hopper', owner: { type: 'person', id: 'user:grace' } } },
    ],
  });
});

it('a policy may accept approvals only from identities signed in at the hosted provider', async () => {
  await policy({ require_hosted_identity: true });
  const made = await plan(alice);
  expect(await codeOf(decide(made, bob))).toBe('403 hosted_identity_required');
  const ofGrace = await mint(undefined, grace);
  expect(await codeOf(decide(made, ofGrace))).toBe('403 hosted_identity_required');
  // A person who can mint tokens can also invent the planner, but the identity that minted them is the provider's.
  const invented = await mint({ type: 'service', id: 'bot' }, await mint(ALICE, ada, 'admin'));
  const planned = await plan(invented);
  expect(await codeOf(decide(planned, ada))).toBe('403 self_approval_forbidden');
  expect(await approvalOf(decide(planned, grace))).toMatchObject({ state: 'approved' });
  expect(await approvalOf(decide(made, ada))).toMatchObject({ state: 'approved' });
});

it('an approval that was replayed by its key counts once, for the person who gave it', async () => {
  await policy({ approvals_required: 2 });
  const made = await plan(alice);
  const once = { idempotencyKey: `of-${made.id}` };
  const send = (token: string) =>
    api.slipway(token).autopilot.plans.approve(made.id, { plan_digest: made.content_digest }, once);
  const first = await send(bob);
  expect(await send(alice)).toEqual(first);
  expect(await approvalOf(slipway.autopilot.plans.get(made.id))).toMatchObject({ state: 'pending', version: 1 });
});

it('a step that requires an approval is approved by another owner than that of the token that began the rollout', async () => {
  const ci: Owner = { type: 'service', id: 'ci' };
  const [first, second] = [await mint(ci), await mint(ci)];
  const steps = [
    { traffic_percent: 50, soak_seconds: 0, requires_approval: true },
    { traffic_percent: 100, soak_seconds: 0 },
  ];
  const body = { spec_patch: { scaling: { min_replicas: 2 } }, strategy: { type: 'canary' as const, steps } };
  const { id } = (await api.slipway(first).deployments.rollouts.create(chat.name, body)).operation;
  // No worker runs here, so the operation gets no further by itself.
  await owned(
    api,
    `update operations set status = 'waiting', awaiting = 'approval', waiting_for = 'approval', current_step = 'await_promotion:1' where id = $1`,
    [id],
  );
  const pass = (token: string) => api.slipway(token).operations.resume(id);
  for (const token of [first, second]) expect(await codeOf(pass(token))).toBe('403 self_approval');
  await policy({ prevent_self_approval: true });
  expect(await codeOf(pass(second))).toBe('403 self_approval');
  expect(await pass(bob)).toMatchObject({ id, waiting_for: null });
});
