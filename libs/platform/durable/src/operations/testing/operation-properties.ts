import type { StepOutcome } from '../index.js';
import type { OperationHarness, OperationRecord } from './operation-harness.js';

/** How a property begins an operation, and which state it must leave. */
export interface OperationCase {
  harness: OperationHarness;
  tenantId: string;
  kind: string;
  /** Makes a fresh world, accepts the operation in it and returns the operation's id. */
  begin(): Promise<string>;
  /** Throws if the world differs from the state after one undisturbed success. */
  assertSucceeded(record: OperationRecord): Promise<void>;
  /** Throws if a failed operation has left anything. */
  assertUnwound(record: OperationRecord): Promise<void>;
}

type CrashPoint = 'before-commit' | 'after-commit';

/** Runs every step's work twice and its commit once, as a crash between the work and the commit would. */
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
 * If any step fails permanently, before or after its work, the operation ends `failed` and leaves nothing. A step that
 * fails after its work may have effects outside of Postgres that no commit records.
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
 * A process that dies before or after the commit of any step changes nothing: its lease expires, another worker takes
 * the operation over and continues it.
 */
export async function everyCrashResumes(one: OperationCase): Promise<void> {
  const steps = await stepNames(one);
  for (const step of steps) {
    for (const point of ['before-commit', 'after-commit'] as const) {
      // After the last commit there is nothing to resume.
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
  // Twice, because a renewal that was in flight when the process died may still arrive.
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

/**
 * Dies once: after the step's work but before its commit, or right after its commit, when the next step would begin.
 */
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

  /** Never settles: an exception would be caught and counted as a failed attempt, and the lease would be given back. */
  private die(): Promise<never> {
    this.state = 'over';
    this.tell();
    return new Promise(() => undefined);
  }
}

const undisturbedBut = (one: OperationCase, fault: StepFault): Promise<OperationRecord> =>
  withFault(one, fault, (id) => one.harness.finish(one.tenantId, id));

/** Drives an operation with wrapped steps, and restores them. */
async function withFault(
  one: OperationCase,
  fault: StepFault,
  drive: (id: string) => Promise<OperationRecord>,
): Promise<OperationRecord> {
  // Begin before the steps are wrapped, because `begin` may run operations of the same kind to build its world.
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
