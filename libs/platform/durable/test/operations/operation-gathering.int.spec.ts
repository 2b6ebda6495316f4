import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { done, type StepContext } from '../../src/operations/index.js';
import {
  behind,
  Effects1700000000099,
  effectsOf,
  everythingOf,
  Gate,
  oneAfterAnother,
  leavesAnEffect,
  script,
  TENANT,
  type Run,
} from './probe.js';
import { OperationHarness, platformMigrations } from '../../src/operations/testing/index.js';

let one: OperationHarness;
let another: OperationHarness;

beforeAll(async () => {
  // Leases expire when a test decides, never because the machine is busy.
  const config = { leaseSeconds: 3600 };
  one = await OperationHarness.start({ migrations: [...platformMigrations, Effects1700000000099], config });
  another = await one.startAnother(config);
});
afterAll(async () => {
  await another?.stop();
  await one?.stop();
});

const nothing: Run = async () => done();

/** Begins operations of two steps. The first step of each pauses at a gate and then ends with its `run`. */
async function standing(count: number, run: (n: number) => Run = () => nothing) {
  const gates = Array.from({ length: count }, () => new Gate());
  const ids = await Promise.all(
    gates.map((gate, n) =>
      script([one, another], { first: oneAfterAnother(behind(gate, run(n)), nothing), second: nothing }).begin(),
    ),
  );
  const drives = ids.map((id) => one.runner.drive(id));
  await Promise.all(gates.map(({ reached }) => reached));
  return { ids, drives, open: () => gates.forEach((gate) => gate.open()) };
}

/** The number of transactions that wrote the ends of these operations' steps of that name. */
async function transactions(ids: readonly string[], step: string): Promise<number> {
  const [row] = await one.database.read<{ count: number }>(
    'system',
    `select count(distinct xmin::text)::int as count from operation_steps where operation_id = any($1) and name = $2`,
    [ids, step],
  );
  return row!.count;
}

const statusesOf = (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await one.record(TENANT, id))['status']));

describe('steps that end at one time', () => {
  it('are committed together, except the first one, each with its events', async () => {
    const { ids, drives, open } = await standing(6);
    open();
    await Promise.all(drives);
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'succeeded'));
    expect(await transactions(ids, 'first')).toBeLessThanOrEqual(2);
    // The second step of the first operation may end before those of the others.
    expect(await transactions(ids, 'second')).toBeLessThanOrEqual(3);
    for (const id of ids) {
      const { events } = (await everythingOf(one, id)) as { events: { sequence: number; data: { status: string } }[] };
      expect(events.map(({ sequence, data }) => [sequence, data.status])).toEqual([
        [1, 'running'],
        [2, 'succeeded'],
      ]);
    }
  });

  it('have a transaction each if each has an effect', async () => {
    const { ids, drives, open } = await standing(4, () => leavesAnEffect);
    open();
    await Promise.all(drives);
    expect(await transactions(ids, 'first')).toBe(4);
    for (const id of ids) expect(await effectsOf(one, id)).toEqual(['first']);
  });

  it('learn of their own loss: a step that another worker has taken is not written, and the others are', async () => {
    const { ids, drives, open } = await standing(4);
    const lost = ids[2]!;
    // The lease is long, so that no repair frees the operation while the test compares.
    await another.database.tx('system', (tx) =>
      tx.query(
        `update operations set lease_version = lease_version + 1, lease_expires_at = now() + interval '1 hour' where id = $1`,
        [lost],
      ),
    );
    const before = await everythingOf(one, lost);
    open();
    await Promise.all(drives);
    expect(await everythingOf(one, lost)).toEqual(before);
    const others = ids.filter((id) => id !== lost);
    expect(await statusesOf(others)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('do not wait for a step whose row another transaction has locked', async () => {
    const { ids, drives, open } = await standing(5);
    const held = ids[3]!;
    const openedAt = performance.now();
    await one.database.tx('system', async (tx) => {
      await tx.query('select 1 from operations where id = $1 for update', [held]);
      open();
      await Promise.all(drives.filter((_, index) => index !== 3));
    });
    // Without the limit, Postgres would let them wait ten seconds for the row.
    expect(performance.now() - openedAt).toBeLessThan(8_000);
    await drives[3];
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'succeeded'));
  });

  it('are written although Postgres refuses the result of one of them, which fails alone', async () => {
    const unspeakable: Run = async (_: StepContext<any>) => done({ result: 'no text has a \u0000' });
    const { ids, drives, open } = await standing(5, (n) => (n === 1 ? unspeakable : nothing));
    open();
    await Promise.all(drives);
    const statuses = await statusesOf(ids);
    expect(statuses.filter((status) => status === 'succeeded')).toHaveLength(4);
    expect(await one.record(TENANT, ids[1]!)).toMatchObject({ status: 'running', attempt: 2 });
  });
});
