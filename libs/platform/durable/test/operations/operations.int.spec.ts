import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type Tx } from '@slipway/platform-database';
import { operationFailures, dispatch, StepFailed } from '../../src/operations/index.js';
import { ACTOR, claimOf, Effects1700000000099, effectsOf, oneAfterAnother, PROBE, probe, TENANT } from './probe.js';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  OperationHarness,
  platformMigrations,
} from '../../src/operations/testing/index.js';

describe('durable operations', () => {
  let harness: OperationHarness;
  const original = { ...probe.steps };
  /** The steps that this process runs, which a test may replace. */
  const steps = () => harness.definitions.find(PROBE.kind)!.steps;

  beforeAll(async () => {
    harness = await OperationHarness.start({ migrations: [...platformMigrations, Effects1700000000099] });
    harness.add(PROBE, probe);
  });
  afterAll(() => harness?.stop());
  afterEach(() => void Object.assign(steps(), original));

  const begin = (world = newId('wld')) => harness.begin(TENANT, PROBE, { world });
  const inTenant = <T>(work: (tx: Tx) => Promise<T>) => harness.database.tx({ tenantId: TENANT }, work);
  const oneCase = () => ({
    harness,
    tenantId: TENANT,
    kind: 'probe',
    begin: () => begin(),
    assertSucceeded: async (record: Record<string, any>) =>
      expect(await effectsOf(harness, record['id'])).toEqual(['first', 'second', 'third']),
    assertUnwound: async (record: Record<string, any>) => expect(await effectsOf(harness, record['id'])).toEqual([]),
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

  it('runs every step twice without harm', () => everyStepIsRepeatable(oneCase()));
  it('unwinds completely after a failure of any step', () =>
    everyStepMayFail(oneCase(), (step) => new StepFailed(operationFailures.internal, `${step} broke`)));
  it('resumes after a crash around each commit', () => everyCrashResumes(oneCase()));

  it('marks the failing step, and a retry starts there again', async () => {
    const fails = async () => {
      throw new StepFailed(operationFailures.dependency_outage, 'away');
    };
    steps()['third'] = oneAfterAnother(fails, original.third);
    const id = await begin();
    const failed = await harness.finish(TENANT, id);
    expect(failed).toMatchObject({
      status: 'failed',
      error_code: 'dependency_outage',
      message: 'away',
      current_step: 'third',
      current_step_status: 'failed',
      retryable: true,
    });
    expect(failed['steps'].map((step: any) => [step.name, step.status])).toEqual([
      ['first', 'undone'],
      ['second', 'undone'],
      ['third', 'failed'],
      ['undo', 'succeeded'],
    ]);
    await inTenant((tx) => harness.store.retry(tx, id, ACTOR));
    const retried = await harness.record(TENANT, id);
    expect(retried).toMatchObject({
      status: 'pending',
      attempt: 0,
      message: '',
      current_step: 'first',
      current_step_status: 'pending',
      completed_at: null,
      progress: 0,
      retryable: false,
    });
    expect(retried).not.toHaveProperty('error_code');
    expect(retried['steps'].map((step: any) => [step.name, step.status, step.started_at, step.message])).toEqual([
      ['first', 'pending', null, ''],
      ['second', 'pending', null, ''],
      ['third', 'pending', null, ''],
    ]);
    // The second step sleeps again: the state of its earlier sleep is deleted.
    await harness.runner.drive(id);
    expect(await harness.record(TENANT, id)).toMatchObject({ status: 'waiting', current_step: 'second' });
    expect(await harness.finish(TENANT, id)).toMatchObject({ status: 'succeeded', progress: 100 });
    expect(await effectsOf(harness, id)).toEqual(['first', 'second', 'third']);
  });

  it('gives up after max_attempts of one step', async () => {
    let tries = 0;
    steps()['first'] = async () => {
      tries += 1;
      throw new Error('flaky');
    };
    const record = await harness.finish(TENANT, await begin());
    expect(tries).toBe(5);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'attempts_exhausted',
      message: 'Step first failed 5 times: flaky',
      retryable: true,
    });
  });

  it('cancels a sleeping operation, and refuses one that has ended', async () => {
    const id = await begin();
    await harness.runner.drive(id);
    await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
    expect(await harness.record(TENANT, id)).toMatchObject({ status: 'cancelling', cancel_requested: true });
    // Its sleep is not over yet.
    await harness.runner.drive(id);
    expect(await harness.record(TENANT, id)).toMatchObject({
      status: 'cancelled',
      error_code: 'cancelled_by_user',
      current_step: 'second',
      current_step_status: 'cancelled',
      retryable: false,
    });
    await expect(inTenant((tx) => harness.store.cancel(tx, id, ACTOR))).rejects.toMatchObject({
      code: 'operation_not_cancellable',
      status: 409,
    });
  });

  it('adopts by key, refuses another request with it, and keeps no key of a request that failed', async () => {
    const claim = (fingerprint: string) =>
      claimOf(PROBE, { idempotency: { method: 'POST', path: '/x', key: 'k1', fingerprint } });
    const attempt = (fingerprint: string, isRefused = false) =>
      inTenant(async (tx) => {
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

  it('sends nothing for an operation that has ended', async () => {
    const id = await begin();
    await harness.finish(TENANT, id);
    await harness.database.tx('system', (tx) => tx.query('delete from outbox'));
    await harness.database.tx('system', (tx) => dispatch(tx, id));
    expect(await harness.database.read('system', 'select 1 from outbox where operation_id = $1', [id])).toEqual([]);
  });
});
