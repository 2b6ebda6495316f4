import type { OperationDefinition, StepOutcome } from '@slipway/platform-operations';
import type { OperationHarness, OperationRecord } from './operation-harness.js';

/** How a property begins an operation, and what must hold of the world afterwards. */
export interface OperationCase {
  harness: OperationHarness;
  tenantId: string;
  kind: string;
  /** Makes a fresh world and accepts the operation in it; returns its id. */
  begin(): Promise<string>;
  /** Throws where the world is not as after one undisturbed success. */
  assertSucceeded(record: OperationRecord): Promise<void>;
  /** Throws where something of a failed operation is left. */
  assertUnwound(record: OperationRecord): Promise<void>;
}

class Crash extends Error {}

type Place = 'before-commit' | 'after-commit';

/** Every step's work happens twice, its commit once: what a crash between work and commit makes of it. */
export async function everyStepIsRepeatable(one: OperationCase): Promise<void> {
  for (const step of await stepNames(one)) {
    const record = await withFault(one, async (name, run) => {
      if (name !== step) return run();
      await run();
      return run();
    });
    if (record['status'] !== 'succeeded')
      throw new Error(`with ${step} repeated it ended ${record['status']}: ${record['message']}`);
    await one.assertSucceeded(record);
  }
}

/** Whichever step fails for good, the operation ends `failed` and leaves nothing behind. */
export async function everyStepMayFail(one: OperationCase, fail: (step: string) => Error): Promise<void> {
  for (const step of await stepNames(one)) {
    const record = await withFault(one, (name, run) => {
      if (name === step) throw fail(step);
      return run();
    });
    if (record['status'] !== 'failed') throw new Error(`with ${step} failing it ended ${record['status']}`);
    await one.assertUnwound(record);
  }
}

/** A process that dies before or after the commit of any step changes nothing: the operation goes on where it was. */
export async function everyCrashResumes(one: OperationCase): Promise<void> {
  for (const step of await stepNames(one)) {
    for (const place of ['before-commit', 'after-commit'] as const) {
      const record = await withFault(one, crashOnce(step, place));
      if (record['status'] !== 'succeeded')
        throw new Error(`after a crash ${place} of ${step} it ended ${record['status']}: ${record['message']}`);
      await one.assertSucceeded(record);
    }
  }
}

/** The forward steps of one undisturbed run. */
async function stepNames(one: OperationCase): Promise<string[]> {
  const id = await one.begin();
  const record = await one.harness.finish(one.tenantId, id);
  if (record['status'] !== 'succeeded')
    throw new Error(`undisturbed it ended ${record['status']}: ${record['message']}`);
  await one.assertSucceeded(record);
  return record['steps'].map((step: { name: string }) => step.name);
}

type Fault = (step: string, run: () => Promise<StepOutcome>) => Promise<StepOutcome>;

/** Dies once: after the step's work but before its commit, or right after its commit, where the next step would begin. */
function crashOnce(step: string, place: Place): Fault {
  let state: 'waiting' | 'armed' | 'over' = 'waiting';
  const die = () => {
    state = 'over';
    throw new Crash(`the process died ${place} of ${step}`);
  };
  return async (name, run) => {
    if (state === 'armed' && name !== step) die();
    const outcome = await run();
    if (name !== step || state !== 'waiting' || outcome.kind === 'sleep') return outcome;
    if (place === 'before-commit') die();
    state = 'armed';
    return outcome;
  };
}

/** Runs the operation with its definition's steps wrapped, and puts the definition back. */
async function withFault(one: OperationCase, fault: Fault): Promise<OperationRecord> {
  // Before the wrapping: what begin needs of the world may come about by operations of the same kind.
  const id = await one.begin();
  const definition = one.harness.definitions.find(one.kind) as OperationDefinition & {
    steps: OperationDefinition['steps'];
  };
  const original = { ...definition.steps };
  try {
    for (const [name, step] of Object.entries(original)) {
      definition.steps[name] = { run: (context) => fault(context.step.name, () => step.run(context)) };
    }
    return await one.harness.finish(one.tenantId, id);
  } finally {
    Object.assign(definition.steps, original);
  }
}
