import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { newId } from '@slipway/platform-database';
import {
  operationFailures,
  done,
  sleep,
  StepFailed,
  type Step,
  type OperationDefinition,
} from '../../src/operations/index.js';
import {
  effect,
  Effects1700000000099,
  effectsOf,
  leavesAnEffect,
  script,
  TENANT,
  type Run,
  type World,
} from './probe.js';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  OperationHarness,
  platformMigrations,
  type OperationCase,
} from '../../src/operations/testing/index.js';

/*
 * A property is worth only what it refuses. Each of these operations is wrong in one way, and the matching property
 * must detect it.
 */

let harness: OperationHarness;

beforeAll(async () => {
  harness = await OperationHarness.start({ migrations: [...platformMigrations, Effects1700000000099] });
});
afterAll(() => harness?.stop());
afterEach(() => void jest.restoreAllMocks());

/** Writes its effect outside of its commit, so that each run leaves one. */
const isNotRepeatable: Run = async (context) => {
  await harness.database.tx('system', (tx) => effect(tx, context));
  return done();
};
const undo: Step<World> = async ({ input }) =>
  done({ commit: async (tx) => void (await tx.query('delete from effects where world = $1', [input.world])) });

function caseOf(steps: Record<string, Run>, undoes: readonly string[] = Object.keys(steps)): OperationCase {
  const { definition, begin } = script([harness], steps, { unwind: [{ name: 'undo', undoes, run: undo }] });
  return {
    harness,
    tenantId: TENANT,
    kind: definition.kind,
    begin,
    assertSucceeded: async ({ id }) => expect(await effectsOf(harness, id)).toEqual(Object.keys(steps).sort()),
    assertUnwound: async ({ id }) => expect(await effectsOf(harness, id)).toEqual([]),
  };
}
const broken = (step: string) => new StepFailed(operationFailures.internal, `${step} broke`);

it('finds a step that is not repeatable, by repeating it and by a crash before its commit', async () => {
  await expect(everyStepIsRepeatable(caseOf({ a: isNotRepeatable, b: leavesAnEffect }))).rejects.toThrow('toEqual');
  await expect(everyCrashResumes(caseOf({ a: isNotRepeatable, b: leavesAnEffect }))).rejects.toThrow('toEqual');
});

it('finds effects that a failing step leaves', async () => {
  const one = caseOf({ a: leavesAnEffect, b: leavesAnEffect }, ['nothing']);
  await expect(everyStepMayFail(one, broken)).rejects.toThrow('toEqual');
});

it('finds uncommitted effects that the work of a failing step leaves', async () => {
  await expect(everyStepMayFail(caseOf({ a: leavesAnEffect, b: isNotRepeatable }), broken)).resolves.toBeUndefined();
  const one = caseOf({ a: leavesAnEffect, b: isNotRepeatable }, ['a']);
  // Undo code that considers only committed steps forgets the step that failed.
  const forgetful: Run = async ({ input, results }) =>
    done({
      commit: async (tx) => {
        if (results['b'] !== undefined) await tx.query('delete from effects where world = $1', [input.world]);
        else await tx.query(`delete from effects where world = $1 and step = 'a'`, [input.world]);
      },
    });
  Object.assign(harness.definitions.find(one.kind)!, { unwind: [{ name: 'undo', undoes: ['a'], run: forgetful }] });
  await expect(everyStepMayFail(one, broken)).rejects.toThrow('toEqual');
});

it('finds an operation that does not continue at its last step', async () => {
  // Counts in memory, which a process that died has lost.
  let runs = 0;
  const remembers: Run = async (context) => {
    runs += 1;
    if (runs > 2) throw new StepFailed(operationFailures.internal, 'it has run before');
    return leavesAnEffect(context);
  };
  await expect(everyCrashResumes(caseOf({ a: remembers, b: leavesAnEffect }))).rejects.toThrow(
    'after a crash before-commit of a it ended failed: it has run before',
  );
});

it('finds a crash that never comes', async () => {
  // The steps differ each time, so the names of the undisturbed run do not appear again.
  let number = 0;
  const one = caseOf({ a: leavesAnEffect, b1: leavesAnEffect, b2: leavesAnEffect });
  const begin = (steps: string[]) => {
    const definition: OperationDefinition = { kind: one.kind, steps, unwind: {} };
    return harness.begin(TENANT, definition, { world: newId('wld') });
  };
  one.begin = () => begin(['a', `b${(number += 1) === 1 ? 1 : 2}`]);
  one.assertSucceeded = async () => undefined;
  await expect(everyCrashResumes(one)).rejects.toThrow('it ended succeeded before the crash before-commit of b1');
});

it('finds an operation that no worker can take over', async () => {
  const one = caseOf({ a: leavesAnEffect, b: leavesAnEffect });
  jest.spyOn(harness, 'skipTime').mockResolvedValue(undefined);
  await expect(everyCrashResumes(one)).rejects.toThrow(
    'after a crash before-commit of a no worker took over the operation after its lease had expired',
  );
});

it('crashes after sleeps, at the commit that ends the step', async () => {
  const sleeps: Run = async (context) => {
    if (!context.state) return sleep({ forMs: 60_000, status: 'waiting', state: { isSecondTime: true } });
    return leavesAnEffect(context);
  };
  await everyCrashResumes(caseOf({ a: sleeps, b: leavesAnEffect, c: sleeps }));
});

it('does not wait until an error of the runner disappears', async () => {
  const one = caseOf({ a: leavesAnEffect });
  const id = await one.begin();
  jest.spyOn(harness.runner, 'drive').mockRejectedValueOnce(new Error('Postgres is away'));
  await expect(harness.finish(TENANT, id)).rejects.toThrow('Postgres is away');
  expect(await harness.record(TENANT, id)).toMatchObject({ status: 'pending' });
});
