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
 * The properties are only worth what they refuse: each of these operations is wrong in one way, and the property that is
 * about it must say so.
 */

let harness: OperationHarness;

beforeAll(async () => {
  harness = await OperationHarness.start({ migrations: [...platformMigrations, Effects1700000000099] });
});
afterAll(() => harness?.stop());
afterEach(() => void jest.restoreAllMocks());

/** Has its effect outside of its commit, so that each run of it leaves one. */
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

it('finds what a failing step leaves behind', async () => {
  const one = caseOf({ a: leavesAnEffect, b: leavesAnEffect }, ['nothing']);
  await expect(everyStepMayFail(one, broken)).rejects.toThrow('toEqual');
});

it('finds what the work of a failing step leaves behind that was never committed', async () => {
  await expect(everyStepMayFail(caseOf({ a: leavesAnEffect, b: isNotRepeatable }), broken)).resolves.toBeUndefined();
  const one = caseOf({ a: leavesAnEffect, b: isNotRepeatable }, ['a']);
  // Whoever unwinds only what was committed forgets the step that failed.
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

it('finds an operation that does not go on where it was', async () => {
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
  // Takes another way each time: the names of the undisturbed run do not come again.
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

it('finds an operation that nobody can take over', async () => {
  const one = caseOf({ a: leavesAnEffect, b: leavesAnEffect });
  jest.spyOn(harness, 'skipTime').mockResolvedValue(undefined);
  await expect(everyCrashResumes(one)).rejects.toThrow(
    'after a crash before-commit of a no worker took over the operation after its lease had expired',
  );
});

it('crashes behind sleeps, at the commit that ends the step', async () => {
  const sleeps: Run = async (context) => {
    if (!context.state) return sleep({ forMs: 60_000, status: 'waiting', state: { isSecondTime: true } });
    return leavesAnEffect(context);
  };
  await everyCrashResumes(caseOf({ a: sleeps, b: leavesAnEffect, c: sleeps }));
});

it('does not wait for an error of the runner to go away', async () => {
  const one = caseOf({ a: leavesAnEffect });
  const id = await one.begin();
  jest.spyOn(harness.runner, 'drive').mockRejectedValueOnce(new Error('Postgres is away'));
  await expect(harness.finish(TENANT, id)).rejects.toThrow('Postgres is away');
  expect(await harness.record(TENANT, id)).toMatchObject({ status: 'pending' });
});
