import type { StepOutcome } from '../index.js';
import type { OperationHarness, OperationRecord } from './operation-harness.js';

/** How a property begins an operation, and what must hold of the world afterwards. */
export interface OperationCase {
  harness: OperationHarness;
  tenantId: string;
  kind: string;
  /** Makes a fresh world and accepts the operation in it; returns its id. */
  begin(): Promise<string>;
  /** Throws if the world is not as after one undisturbed success. */
  assertSucceeded(record: OperationRecord): Promise<void>;
  /** Throws if something of a failed operation is left. */
  assertUnwound(record: OperationRecord): Promise<void>;
}

type CrashPoint = 'before-commit' | 'after-commit';

/** Every step's work happens twice, its commit once: what a crash between work and commit makes of it. */
export async function everyStepIsRepeatable(one: OperationCase): Promise<void> {
  for (const step of await stepNames(one)) {
    const record = await undisturbedBut(one, async (name, run) => {
      if (name !== step) return run();
      await run();
      return run();
    });
    if (record['status'] !== 'succeeded')
      throw new Error(`with ${step} repeated it ended ${record['status']}: ${record['message']}`);
    await one.assertSucceeded(record);
  }
}

/**
 * Whichever step fails for good, before its work or behind it, the operation ends `failed` and leaves nothing behind.
 * Behind its work there are effects outside of Postgres that no commit tells of.
 */
export async function everyStepMayFail(one: OperationCase, fail: (step: string) => Error): Promise<void> {
  for (const step of await stepNames(one)) {
    for (const isWorkDone of [false, true]) {
      const record = await undisturbedBut(one, async (name, run) => {
        if (name !== step) return run();
        const outcome = isWorkDone ? await run() : undefined;
        if (outcome?.kind === 'sleep') return outcome;
        throw fail(step);
      });
      const when = isWorkDone ? 'behind' : 'before';
      if (record['status'] !== 'failed')
        throw new Error(`with ${step} failing ${when} its work it ended ${record['status']}`);
      await one.assertUnwound(record);
    }
  }
}

/**
 * A process that dies before or after the commit of any step changes nothing: its lease runs out, another worker takes the
 * operation over and goes on where it was.
 */
export async function everyCrashResumes(one: OperationCase): Promise<void> {
  const steps = await stepNames(one);
  for (const step of steps) {
    for (const point of ['before-commit', 'after-commit'] as const) {
      // Behind the last commit there is nothing to resume.
      if (point === 'after-commit' && step === steps.at(-1)) continue;
      const crash = new Crash(step, point);
      const record = await withFault(one, crash.fault, (id) => resume(one, id, crash));
      if (record['status'] !== 'succeeded')
        throw new Error(`after a crash ${crash.name} it ended ${record['status']}: ${record['message']}`);
      await one.assertSucceeded(record);
    }
  }
}

/** Drives into the crash, checks that it left what a killed process leaves, and lets another drive take over. */
async function resume({ harness, tenantId }: OperationCase, id: string, crash: Crash): Promise<OperationRecord> {
  const early = await harness.finishOr(tenantId, id, crash.happened);
  if (early) throw new Error(`it ended ${early['status']} before the crash ${crash.name}: ${early['message']}`);
  const left = await harness.abandon(id);
  if (!left.isHeld) throw new Error(`the crash ${crash.name} gave the lease back`);
  const { steps } = await harness.record(tenantId, id);
  const { status } = steps.find((one: { name: string }) => one.name === crash.step);
  const isCommitted = ['succeeded', 'skipped'].includes(status);
  if (isCommitted !== (crash.point === 'after-commit')) throw new Error(`the crash ${crash.name} left it ${status}`);
  // Twice, because a renewal that was on its way when the process died may still arrive.
  for (const _try of [1, 2]) {
    await harness.skipTime(id);
    await harness.runner.drive(id);
    if ((await harness.leaseOf(id)).leaseVersion !== left.leaseVersion) return harness.finish(tenantId, id);
  }
  throw new Error(`after a crash ${crash.name} no worker took over the operation after its lease had expired`);
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

type StepFault = (step: string, run: () => Promise<StepOutcome>) => Promise<StepOutcome>;

/** Dies once: after the step's work but before its commit, or right after its commit, where the next step would begin. */
class Crash {
  readonly happened: Promise<void>;
  private state: 'waiting' | 'armed' | 'over' = 'waiting';
  private tell: () => void = () => undefined;

  constructor(
    readonly step: string,
    readonly point: CrashPoint,
  ) {
    this.happened = new Promise((resolve) => (this.tell = resolve));
  }

  get name(): string {
    return `${this.point} of ${this.step}`;
  }

  readonly fault: StepFault = async (name, run) => {
    if (this.state === 'armed' && name !== this.step) return this.die();
    const outcome = await run();
    if (name !== this.step || this.state !== 'waiting' || outcome.kind === 'sleep') return outcome;
    if (this.point === 'before-commit') return this.die();
    this.state = 'armed';
    return outcome;
  };

  /** Never settles: an exception would be caught, counted as a failed try, and the lease given back. */
  private die(): Promise<never> {
    this.state = 'over';
    this.tell();
    return new Promise(() => undefined);
  }
}

const undisturbedBut = (one: OperationCase, fault: StepFault): Promise<OperationRecord> =>
  withFault(one, fault, (id) => one.harness.finish(one.tenantId, id));

/** Drives an operation with its steps wrapped, and puts them back. */
async function withFault(
  one: OperationCase,
  fault: StepFault,
  drive: (id: string) => Promise<OperationRecord>,
): Promise<OperationRecord> {
  // Before the wrapping: what begin needs of the world may come about by operations of the same kind.
  const id = await one.begin();
  const runnable = one.harness.definitions.find(one.kind);
  if (!runnable) throw new Error(`nothing implements ${one.kind}`);
  const original = { ...runnable.steps };
  try {
    for (const [name, step] of Object.entries(original)) {
      runnable.steps[name] = (context) => fault(context.step.name, () => step(context));
    }
    return await drive(id);
  } finally {
    Object.assign(runnable.steps, original);
  }
}
