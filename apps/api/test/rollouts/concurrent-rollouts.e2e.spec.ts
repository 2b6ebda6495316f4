import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Database } from '@slipway/platform-database';
import type { BodyOf } from '@slipway/sdk';
import fc from 'fast-check';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { refusalOf } from '../harness/refusals.js';

jest.setTimeout(180_000);

const DEPLOYMENTS = 3;
const QUOTAS = { revisions: 2, instances: 4 };

/** One request: its deployment, its body, and its Idempotency-Key. */
interface RolloutRequest {
  deployment: number;
  kind: 'plain' | 'too-many' | 'unknown-target' | 'stale';
  model: 'a' | 'b' | 'c';
  key: 'k1' | 'k2' | null;
}

/** A client's view of its answer: `of` is the operation that it made or adopted. */
interface Outcome {
  status: number | undefined;
  of?: string;
}

/** The state of a deployment in the model of the rules. */
interface ModelState {
  isBusy: boolean;
  models: ReadonlySet<string>;
  /** By key, the request that has claimed it. */
  keys: ReadonlyMap<string, { body: string; by: string }>;
}

const asked: fc.Arbitrary<RolloutRequest> = fc.record({
  deployment: fc.nat(DEPLOYMENTS - 1),
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant('plain' as const) },
    { weight: 3, arbitrary: fc.constantFrom('too-many' as const, 'unknown-target' as const, 'stale' as const) },
  ),
  model: fc.constantFrom('a', 'b', 'c'),
  key: fc.constantFrom(null, null, 'k1', 'k2'),
});
/**
 * Rounds, between which accepted work is finished; only a few for one deployment, because all their orders are tried.
 */
const rounds = fc.array(
  fc
    .array(asked, { minLength: 2, maxLength: 14 })
    .filter((all) => [0, 1, 2].every((n) => all.filter(({ deployment }) => deployment === n).length <= 5)),
  { minLength: 1, maxLength: 3 },
);

let api: TestApi;
let home: string;
let tenant: string;
let count = 0;

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'slipway-concurrent-'));
  const config = path.join(home, 'slipway.config.yaml');
  writeFileSync(config, `quotas: {revisions: ${QUOTAS.revisions}, instances: ${QUOTAS.instances}}\n`);
  // No worker: accepted work stays as its request has left it.
  api = await bootApi({ SLIPWAY_CONFIG: config });
  [{ id: tenant }] = (await sql('select id from tenants limit 1')) as [{ id: string }];
});
afterAll(async () => {
  await api?.close();
  rmSync(home, { recursive: true, force: true });
});

const sql = <R = Record<string, any>>(text: string, values: unknown[] = []): Promise<R[]> =>
  api.app.get(Database).tx('system', (tx) => tx.query<R>(text, values));

function bodyOf({ kind, model }: RolloutRequest): BodyOf<'createRollout'> {
  return {
    spec: {
      model: { id: model },
      runtime: { target: kind === 'unknown-target' ? 'nowhere' : 'local', engine: 'sim' },
      ...(kind === 'too-many' && { scaling: { min_replicas: QUOTAS.instances + 1 } }),
    },
    strategy: { type: model === 'c' ? 'immediate' : 'candidate' },
    ...(kind === 'stale' && { expected_active_revision: '7' }),
  };
}

async function send(name: string, one: RolloutRequest): Promise<Outcome> {
  const key = one.key ? { idempotencyKey: `${name}-${one.key}` } : {};
  const call = api.answerTo(({ deployments }) => deployments.rollouts.create(name, bodyOf(one), key));
  return call.then(
    ({ status, body }) => ({ status, of: body.operation.id }),
    async () => ({ status: (await refusalOf(call)).status }),
  );
}

/** Applies the rules to the next request: returns its answer and the resulting deployment. */
function next(known: ModelState, one: RolloutRequest, by: string): [Outcome, ModelState] {
  const claimed = one.key ? known.keys.get(one.key) : undefined;
  if (claimed && claimed.body !== JSON.stringify(bodyOf(one))) return [{ status: 422 }, known];
  if (claimed) return [{ status: 200, of: claimed.by }, known];
  if (one.kind === 'unknown-target') return [{ status: 422 }, known];
  if (one.kind === 'stale') return [{ status: 412 }, known];
  if (known.isBusy) return [{ status: 409 }, known];
  const spec = `${one.kind} ${one.model}`;
  if (!known.models.has(spec) && known.models.size >= QUOTAS.revisions) return [{ status: 429 }, known];
  if (one.kind === 'too-many') return [{ status: 429 }, known];
  const keys = one.key ? new Map(known.keys).set(one.key, { body: JSON.stringify(bodyOf(one)), by }) : known.keys;
  return [
    { status: 202, of: by },
    { isBusy: true, models: new Set(known.models).add(spec), keys },
  ];
}

/**
 * Returns the deployment after some order of these requests in which each gets the answer
 * that it got; undefined if there is none.
 */
function explained(known: ModelState, left: readonly { one: RolloutRequest; seen: Outcome }[]): ModelState | undefined {
  if (left.length === 0) return known;
  for (const { one, seen } of left) {
    const [said, then] = next(known, one, seen.of ?? '');
    if (said.status !== seen.status || said.of !== seen.of) continue;
    const rest = explained(
      then,
      left.filter((other) => other.one !== one),
    );
    if (rest) return rest;
  }
  return undefined;
}

/** All stored rows of a deployment, as counts. */
const WRITTEN = `select
  (select array_agg(r.spec->'model'->>'id' order by r.number) from revisions r where r.deployment_id = $1) as models,
  (select array_agg(o.id) from operations o where o.resource_name = $2) as operations,
  (select count(distinct (o.operation_id, o.name))::int from operation_steps o join operations p on p.id = o.operation_id where p.resource_name = $2 and o.name in ('validate', 'provision', 'await_ready')) as steps,
  (select count(*)::int from outbox where operation_id in (select id from operations where resource_name = $2)) as dispatches,
  (select count(*)::int from audit_log where resource_name = $2 and action = 'rollout.create') as audits,
  (select array_agg(sequence::int order by sequence) from events where stream = 'deployment/' || $1) as sequence,
  (select count(*)::int from events where stream = 'deployment/' || $1 and type = 'rollout.started') as started`;

it('leaves what some sequential order of the same requests would have left, and answers as that order would', async () => {
  const holds = async (all: RolloutRequest[][]) => {
    count += 1;
    const names = Array.from({ length: DEPLOYMENTS }, (_, n) => `chat-${count}-${n}`);
    await sql(
      `insert into deployments (id, tenant_id, name, created_by) select 'dep_' || name, $1, name, '{"type":"token","id":"test"}' from unnest($2::text[]) name`,
      [tenant, names],
    );
    const known: ModelState[] = names.map(() => ({ isBusy: false, models: new Set(), keys: new Map() }));
    const accepted = names.map(() => new Set<string>());
    for (const round of all) {
      const answered = await Promise.all(
        round.map(async (one) => ({ one, seen: await send(names[one.deployment]!, one) })),
      );
      for (const [n, name] of names.entries()) {
        const mine = answered.filter(({ one }) => one.deployment === n);
        const behind = explained({ ...known[n]!, isBusy: false }, mine);
        expect({ mine, isExplained: behind !== undefined }).toEqual({ mine, isExplained: true });
        known[n] = behind!;
        for (const { seen } of mine) if (seen.status === 202) accepted[n]!.add(seen.of!);
        const [row] = await sql(WRITTEN, [`dep_${name}`, name]);
        const times = accepted[n]!.size;
        expect(row).toMatchObject({ steps: 3 * times, dispatches: times, audits: times, started: times });
        expect(new Set(row!['operations'])).toEqual(accepted[n]);
        expect(new Set(row!['models'])).toEqual(new Set([...behind!.models].map((spec) => spec.split(' ')[1])));
        const events = times + behind!.models.size;
        expect(row!['sequence'] ?? []).toEqual(Array.from({ length: events }, (_, at) => at + 1));
      }
      // Finishes the accepted work.
      await sql(
        `with ended as (delete from traffic_owner where deployment_id = any($1))
         update deployments set current_operation_id = null, candidate_revision_id = null where id = any($1)`,
        [names.map((name) => `dep_${name}`)],
      );
    }
  };
  await fc.assert(fc.asyncProperty(rounds, holds), { numRuns: 40 });
});
