import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrations as databaseMigrations, newId, type Tx } from '@slipway/platform-database';
import {
  dispatch,
  done,
  migrations as operationMigrations,
  Retention,
  sleep,
  StepFailed,
  type OperationDefinition,
  type StepContext,
} from '@slipway/platform-operations';
import { everyCrashResumes, everyStepIsRepeatable, everyStepMayFail, OperationHarness } from './index.js';

const TENANT = newId('ten');

/** Three steps with an effect each, one of which sleeps, and a way back. */
class Probe implements OperationDefinition<{ world: string }> {
  readonly kind = 'probe';
  readonly pointOfNoReturn = 'third';
  readonly steps = {
    first: {
      run: async (context: StepContext<{ world: string }>) =>
        done({ result: 1, commit: (tx) => effect(tx, context, 1) }),
    },
    second: {
      run: async (context: StepContext<{ world: string }>) => {
        if (!context.state) return sleep({ forMs: 60_000, status: 'waiting', state: { isSecondTime: true } });
        return done({ commit: (tx) => effect(tx, context, 1) });
      },
    },
    third: {
      run: async (context: StepContext<{ world: string }>) =>
        done({ result: Number(context.results['first']) + 1, commit: (tx) => effect(tx, context, 1) }),
    },
  };
  readonly unwind = [
    {
      name: 'undo',
      undoes: ['first', 'second', 'third'],
      run: async ({ input }: StepContext<{ world: string }>) =>
        done({ commit: async (tx) => void (await tx.query('delete from effects where world = $1', [input.world])) }),
    },
  ];
}

async function effect(tx: Tx, { input, step }: StepContext<{ world: string }>, times: number): Promise<void> {
  await tx.query('insert into effects (world, step, times) values ($1, $2, $3)', [input.world, step.name, times]);
}

class Effects1700000000099 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create table effects (world text, step text, times int)');
    await runner.query(`select slipway_system_table('effects')`);
  }
  async down(): Promise<void> {}
}

describe('durable operations', () => {
  let harness: OperationHarness;
  const probe = new Probe();

  beforeAll(async () => {
    harness = await OperationHarness.start({
      migrations: [...databaseMigrations, ...operationMigrations, Effects1700000000099],
    });
    harness.definitions.add(probe);
  });
  afterAll(() => harness.stop());

  const begin = (world = newId('wld')) => harness.begin(TENANT, probe, ['first', 'second', 'third'], { world });
  const effectsOf = async (record: Record<string, any>) => {
    const rows = await harness.database.read<{ step: string }>(
      'system',
      `select e.step from effects e join operations o on o.input->>'world' = e.world where o.id = $1 order by e.step`,
      [record['id']],
    );
    return rows.map((row) => row.step);
  };
  const oneCase = () => ({
    harness,
    tenantId: TENANT,
    kind: 'probe',
    begin: () => begin(),
    assertSucceeded: async (record: Record<string, any>) =>
      expect(await effectsOf(record)).toEqual(['first', 'second', 'third']),
    assertUnwound: async (record: Record<string, any>) => expect(await effectsOf(record)).toEqual([]),
  });

  it('runs steps in order, sleeping in Postgres in between', async () => {
    const id = await begin();
    await harness.runner.drive(id);
    const asleep = await harness.record(TENANT, id);
    expect(asleep).toMatchObject({
      status: 'waiting',
      current_step: 'second',
      current_step_status: 'waiting',
      attempt: 1,
      progress: 33,
    });
    await harness.runner.drive(id);
    expect(await harness.record(TENANT, id)).toMatchObject({ status: 'waiting' });
    const record = await harness.finish(TENANT, id);
    expect(record).toMatchObject({
      status: 'succeeded',
      progress: 100,
      current_step: 'third',
      current_step_status: 'succeeded',
      message: '',
    });
    expect(record).not.toHaveProperty('error_code');
    expect(record['steps'].map((step: any) => step.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('every step is repeatable', () => everyStepIsRepeatable(oneCase()));
  it('every step may fail and unwinds clean', () =>
    everyStepMayFail(oneCase(), (step) => new StepFailed('internal', `${step} broke`)));
  it('a crash around each commit resumes', () => everyCrashResumes(oneCase()));

  it('marks the failing step, and a retry re-enters there', async () => {
    const { third } = probe.steps;
    probe.steps.third = {
      run: async () => {
        throw new StepFailed('dependency_outage', 'away');
      },
    };
    const id = await begin();
    const failed = await harness.finish(TENANT, id);
    probe.steps.third = third;
    expect(failed).toMatchObject({
      status: 'failed',
      error_code: 'dependency_outage',
      message: 'away',
      current_step: 'third',
      current_step_status: 'failed',
      retryable: true,
    });
    expect(failed['steps'].map((step: any) => [step.name, step.status])).toEqual([
      ['first', 'pending'],
      ['second', 'pending'],
      ['third', 'failed'],
      ['undo', 'succeeded'],
    ]);
    await harness.database.tx({ tenantId: TENANT }, (tx) => harness.store.retry(tx, id, { type: 'token', id: 'test' }));
    expect(await harness.record(TENANT, id)).toMatchObject({
      status: 'pending',
      attempt: 0,
      current_step: 'first',
      progress: 0,
    });
    expect(await harness.finish(TENANT, id)).toMatchObject({ status: 'succeeded', progress: 100 });
  });

  it('gives up after max_attempts of one step', async () => {
    const { first } = probe.steps;
    let tries = 0;
    probe.steps.first = {
      run: async () => {
        tries += 1;
        throw new Error('flaky');
      },
    };
    const record = await harness.finish(TENANT, await begin());
    probe.steps.first = first;
    expect(tries).toBe(5);
    expect(record).toMatchObject({ status: 'failed', error_code: 'attempts_exhausted', attempt: expect.any(Number) });
  });

  it('cancels what sleeps, and refuses after the point of no return', async () => {
    const id = await begin();
    await harness.runner.drive(id);
    await harness.database.tx({ tenantId: TENANT }, (tx) =>
      harness.store.cancel(tx, id, { type: 'token', id: 'test' }),
    );
    expect(await harness.record(TENANT, id)).toMatchObject({ status: 'cancelling', cancel_requested: true });
    expect(await harness.finish(TENANT, id)).toMatchObject({
      status: 'cancelled',
      error_code: 'cancelled_by_user',
      current_step: 'second',
      current_step_status: 'cancelled',
    });
    const ended = harness.database.tx({ tenantId: TENANT }, (tx) =>
      harness.store.cancel(tx, id, { type: 'token', id: 'test' }),
    );
    await expect(ended).rejects.toMatchObject({ code: 'operation_not_cancellable', status: 409 });
  });

  it('lets nobody write under a lease that another has taken', async () => {
    const { first } = probe.steps;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let runs = 0;
    probe.steps.first = {
      run: async (context) => {
        if (++runs === 1) await held;
        return first.run(context);
      },
    };
    const id = await begin();
    const stale = harness.runner.drive(id);
    while (runs === 0) await new Promise((resolve) => setImmediate(resolve));
    await harness.skipTime(id);
    const record = await harness.finish(TENANT, id);
    release();
    await stale;
    probe.steps.first = first;
    expect(record['status']).toBe('succeeded');
    expect(await effectsOf(record)).toEqual(['first', 'second', 'third']);
  });

  it('adopts by key, refuses another request under it, and keeps no key of a request that failed', async () => {
    const claim = (fingerprint: string) => ({
      kind: 'probe',
      resourceType: 'thing',
      resourceName: 'thing',
      requestedBy: { type: 'token', id: 'test' },
      idempotency: { method: 'POST', path: '/x', key: 'k1', fingerprint },
    });
    const attempt = (fingerprint: string, isRefused = false) =>
      harness.database.tx({ tenantId: TENANT }, async (tx) => {
        const made = await harness.store.claim(tx, claim(fingerprint));
        if (isRefused) throw new Error('refused');
        return made;
      });
    await expect(attempt('a', true)).rejects.toThrow('refused');
    const all = await Promise.all(Array.from({ length: 20 }, () => attempt('b')));
    expect(new Set(all.map((one) => one.id)).size).toBe(1);
    expect(all.filter((one) => one.created)).toHaveLength(1);
    await expect(attempt('c')).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 422 });
  });

  it('forgets ended operations after thirty days, and no live one', async () => {
    const [ended, live] = [await begin(), await begin()];
    await harness.finish(TENANT, ended);
    await harness.database.tx('system', async (tx) => {
      await tx.query(`update operations set completed_at = now() - interval '31 days' where id = $1`, [ended]);
      await tx.query(`update operations set created_at = now() - interval '31 days' where id = $1`, [live]);
    });
    await harness.database.tx('system', (tx) => new Retention().sweep(tx));
    const rows = await harness.database.read<{ id: string }>('system', 'select id from operations where id = any($1)', [
      [ended, live],
    ]);
    expect(rows).toEqual([{ id: live }]);
  });

  it('sends nothing for an operation that has ended', async () => {
    const id = await begin();
    await harness.finish(TENANT, id);
    await harness.database.tx('system', (tx) => tx.query('delete from outbox'));
    await harness.database.tx('system', (tx) => dispatch(tx, id));
    expect(await harness.database.read('system', 'select 1 from outbox where operation_id = $1', [id])).toEqual([]);
  });
});
