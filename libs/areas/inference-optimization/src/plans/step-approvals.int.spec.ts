import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Actor, Owner } from '@slipway/contracts';
import { AreaBed, type AreaApplication } from '@slipway/platform-durable/operations/testing';
import { SlipwayError } from '@slipway/platform-http';
import { migrations as auth } from '@slipway/platform-http/auth';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { PLANS, type PlansPort } from '@slipway/ports/plans';
import { migrations as policies, PoliciesModule } from '../policies/index.js';
import { migrations as plans, PlansModule } from './index.js';

const TENANT = 'ten_a';
const CI: Owner = { type: 'service', id: 'ci' };
const BOB: Owner = { type: 'person', id: 'bob' };

class PlansBed extends AreaBed {
  private constructor(area: AreaApplication) {
    super(area);
  }

  static async start(): Promise<PlansBed> {
    const lock = async (_tx: unknown, tenantId: string, name: string) => ({ id: `dep_${name}`, tenantId, name });
    return new PlansBed(
      await AreaBed.open({
        migrations: [...auth, ...policies, ...plans],
        modules: [PoliciesModule, PlansModule],
        neighbours: [{ provide: DEPLOYMENTS, useValue: { lock } }],
      }),
    );
  }
}

let bed: PlansBed;
let count = 0;

beforeAll(async () => {
  bed = await PlansBed.start();
  await bed.sql(`insert into tenants (id, name) values ('${TENANT}', 'a'), ('ten_b', 'b')`);
}, 60_000);
afterAll(() => bed?.stop());

/** A token of this owner, as the actor of an operation. */
async function token(owner: Owner, minters: Owner[] = [], tenant = TENANT): Promise<Actor> {
  const id = `tok_${(count += 1)}`;
  await bed.sql(
    `insert into api_tokens (id, tenant_id, name, scopes, secret_sha256, created_by, owner_type, owner_id, minters, expires_at)
     values ($1, $2, 'n', '{operator}', '', 'token:x', $3, $4, $5, now() + interval '1 day')`,
    [id, tenant, owner.type, owner.id, JSON.stringify(minters)],
  );
  return { type: 'token', id };
}

const setPolicy = async (deployment: string, promotion: object) =>
  expect(
    (await bed.send('PUT', `/deployments/${deployment}/continual-optimization/policy`, { body: { promotion } })).status,
  ).toBe(200);

/** How the approval of a step ends that this owner's caller tries to give. */
async function outcome(deployment: string, startedBy: Actor, owner: Owner, minters: Owner[] = []): Promise<string> {
  const port = bed.app.get<PlansPort>(PLANS, { strict: false });
  const operation = { tenantId: TENANT, deploymentId: `dep_${deployment}`, startedBy };
  try {
    await bed.database.tx({ tenantId: TENANT }, (tx) =>
      port.assertMayApprove(tx, operation, { actor: { type: 'token', id: 'tok_caller' }, owner, minters }),
    );
    return 'approves';
  } catch (refusal) {
    return refusal instanceof SlipwayError ? `${refusal.status} ${refusal.code}` : String(refusal);
  }
}

it('forbids the owner of the token that began an operation, with any of their tokens, if there is no policy', async () => {
  const startedBy = await token(CI);
  expect(await outcome('chat', startedBy, CI)).toBe('403 self_approval');
  expect(await outcome('chat', startedBy, BOB, [CI])).toBe('403 self_approval');
  expect(await outcome('chat', startedBy, BOB)).toBe('approves');
});

it('knows the owner after the token was revoked', async () => {
  const startedBy = await token(CI);
  await bed.sql(`update api_tokens set revoked_at = now() where id = $1`, [startedBy.id]);
  expect(await outcome('chat', startedBy, CI)).toBe('403 self_approval');
});

it('follows the policy in force', async () => {
  const startedBy = await token(CI, [BOB]);
  await setPolicy('free', { prevent_self_approval: false });
  expect(await outcome('free', startedBy, CI)).toBe('approves');
  await setPolicy('free', { require_hosted_identity: true });
  expect(await outcome('free', startedBy, CI)).toBe('403 self_approval');
  expect(await outcome('free', startedBy, BOB)).toBe('403 self_approval');
  expect(await outcome('chat', startedBy, BOB)).toBe('approves');
});

it('knows people of the hosted provider by their identity, and lets every caller approve the work of Slipway', async () => {
  const ada = { type: 'user', id: 'ada' };
  expect(await outcome('chat', ada, { type: 'person', id: 'user:ada' })).toBe('403 self_approval');
  expect(await outcome('chat', ada, BOB)).toBe('approves');
  expect(await outcome('chat', { type: 'system', id: 'worker' }, CI)).toBe('approves');
});
