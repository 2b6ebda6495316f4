import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  operationFailures,
  operationErrors,
  sleep,
  StepFailed,
  type Failure,
  type OperationOf,
  type OperationRow,
  type Outcome,
  type StepContext,
  type StepOutcome,
} from '@slipway/platform-operations';
import { instanceFailures, INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { BindingEntity } from './binding.entity.js';
import { ADD_CHECK, LOCK_BINDING, type LockedBinding } from './binding.query.js';
import { PublicationEntity } from './publication.entity.js';
import { QualifiedTarget, type CallableBinding } from './qualified-target.js';
import {
  chatCompletion,
  listModels,
  streamedCompletion,
  unknownModel,
  type CallableTarget,
  type CallResult,
} from './target-calls.js';

export interface QualificationInput {
  bindingId: string;
  /** Null for a supplier. */
  revisionId: string | null;
  deploymentId: string | null;
}

const CALLS = ['list_models', 'chat_completion', 'streamed_completion', 'unknown_model'] as const;

/**
 * Qualifies a target binding:
 *
 *   prepare → await_ready → list_models → chat_completion → streamed_completion → unknown_model → conclude
 *   on failure or cancel: release_target
 *
 * The calls note what they find and never fail, so that one qualification tells everything that is wrong; `conclude` judges.
 * Nothing that a target says gets into a row, an event or a message.
 */
export const QUALIFICATION = defineOperation({
  kind: 'qualify_target_binding',
  input: inputOf<QualificationInput>(),
  steps: ['prepare', 'await_ready', ...CALLS, 'conclude'],
  unwind: { release_target: ['prepare', 'await_ready', ...CALLS, 'conclude'] },
});

type Context = StepContext<QualificationInput>;
type Call = (target: CallableTarget, signal: AbortSignal) => Promise<CallResult>;

const READY_LIMIT_MS = 600_000;
const READY_LOOK_MS = 500;
/** A revision stays up that long for the publication that usually follows. */
const WARM_SECONDS = 3_600;

@Injectable()
@DurableOperation(QUALIFICATION)
export class QualifyTargetBindingOperation implements OperationOf<typeof QUALIFICATION> {
  readonly steps = {
    prepare: { run: (context: Context) => this.prepare(context) },
    await_ready: { run: (context: Context) => this.awaitReady(context) },
    list_models: { run: (context: Context) => this.call(context, listModels) },
    chat_completion: { run: (context: Context) => this.call(context, chatCompletion) },
    streamed_completion: { run: (context: Context) => this.call(context, streamedCompletion) },
    unknown_model: { run: (context: Context) => this.call(context, unknownModel) },
    conclude: { run: (context: Context) => this.conclude(context) },
  };

  readonly unwind = { release_target: { run: async () => done() } };

  constructor(
    private readonly database: Database,
    private readonly target: QualifiedTarget,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  private async prepare({ operation, input }: Context): Promise<StepOutcome> {
    return done({
      commit: async (tx) => {
        await tx
          .repository(BindingEntity)
          .update({ tenant_id: operation.tenantId, id: input.bindingId }, { checks: [] });
        if (input.revisionId === null) return;
        const [revision] = await this.revisions.getMany(tx, [input.revisionId]);
        if (!revision)
          throw new StepFailed(operationFailures.validation_failed, 'the revision is gone', { retryable: false });
        const { tenantId, deploymentId, id: revisionId, name: revisionName, spec } = revision;
        const workload = { tenantId, deploymentId, revisionId, revisionName, spec };
        await this.instances.want(tx, workload, `operation:${operation.id}`);
      },
    });
  }

  private async awaitReady({ operation, input, step }: Context): Promise<StepOutcome> {
    const { revisionId } = input;
    if (revisionId === null) return done({ skipped: true, message: 'the supplier runs it' });
    const status = await this.database.tx('system', (tx) => this.instances.status(tx, revisionId));
    const isServing = status && status.ready > 0 && (await this.target.of(await this.binding(operation))) !== undefined;
    if (isServing) return done({ message: `${status.ready} of ${status.desired} instances are ready` });
    const leftMs = READY_LIMIT_MS - step.elapsedMs();
    if (leftMs <= 0)
      throw new StepFailed(
        instanceFailures.target_not_ready,
        `no instance was ready after ${READY_LIMIT_MS / 1_000} s`,
      );
    return sleep({
      forMs: Math.min(READY_LOOK_MS, leftMs),
      status: 'running',
      message: 'waits for an instance',
      commit: (tx) => this.instances.wakeOnChange(tx, revisionId, operation.id),
    });
  }

  private async call({ operation, input, step, signal }: Context, call: Call): Promise<StepOutcome> {
    const target = await this.target.of(await this.binding(operation));
    const { passed, message, isOutage, durationMs } = target ? await call(target, signal) : GONE;
    const check = { name: step.name, passed, message, duration_ms: durationMs };
    return done({
      message,
      evidence: check,
      result: { ...check, isOutage },
      commit: async (tx) => void (await tx.query(ADD_CHECK, [input.bindingId, JSON.stringify(check)])),
    });
  }

  private async conclude({ results }: Context): Promise<StepOutcome> {
    const failed = CALLS.map((name) => results[name]).filter((check) => !check.passed);
    if (failed.length === 0) return done({ message: 'qualified', operationResult: { qualified: true } });
    const { dependency_outage, validation_failed } = operationFailures;
    const code = failed.some((check) => check.isOutage) ? dependency_outage : validation_failed;
    throw new StepFailed(
      code,
      `${failed.length} of ${CALLS.length} checks failed: ${failed.map(({ name, message }) => `${name}: ${message}`).join('; ')}`,
    );
  }

  /** Frees the binding, with the state that its checks give it. A binding that could serve and now failed is not to be published again. */
  async finish(tx: Tx, { id, tenantId, input }: OperationRow<QualificationInput>, outcome: Outcome, failure?: Failure) {
    const binding = await tx.one<LockedBinding>(LOCK_BINDING, [input.bindingId, tenantId]);
    if (!binding) return undefined;
    if (outcome === 'failed' && binding.checks.every((check) => check.passed)) {
      await tx.query(ADD_CHECK, [
        binding.id,
        JSON.stringify({ name: 'target', passed: false, message: failure?.message ?? 'failed', duration_ms: null }),
      ]);
    }
    const failedState = binding.state === 'qualified' ? 'suspended' : binding.state;
    const state = outcome === 'succeeded' ? 'qualified' : outcome === 'failed' ? failedState : binding.state;
    await tx
      .repository(BindingEntity)
      .update({ tenant_id: tenantId, id: binding.id }, { operation_id: null, state, checked_at: () => 'now()' });
    if (binding.revision_id !== null) await this.moveHolds(tx, binding, { id, tenantId }, outcome);
    return { result: { qualified: outcome === 'succeeded', binding_id: binding.id } };
  }

  /** A retry of an old qualification must not run beside a new one. */
  async reclaim(tx: Tx, { id, tenantId, input }: OperationRow<QualificationInput>): Promise<void> {
    const binding = await tx.one<LockedBinding>(LOCK_BINDING, [input.bindingId, tenantId]);
    if (!binding) throw operationErrors.operation_not_retryable();
    if (binding.operation_id)
      throw operationErrors.operation_in_progress({
        message: `Operation ${binding.operation_id} qualifies this binding.`,
        extra: { operation_id: binding.operation_id },
      });
    await tx.repository(BindingEntity).update({ tenant_id: tenantId, id: binding.id }, { operation_id: id });
  }

  private async moveHolds(
    tx: Tx,
    binding: LockedBinding,
    { id, tenantId }: Pick<OperationRow, 'id' | 'tenantId'>,
    outcome: Outcome,
  ): Promise<void> {
    const revisionId = binding.revision_id as string;
    const current = await tx
      .repository(PublicationEntity)
      .findOneBy({ tenant_id: tenantId, product_id: binding.product_id, state: 'published' });
    const isPublished = current?.bindings.some(({ binding_id }) => binding_id === binding.id) ?? false;
    if (outcome === 'succeeded' && !isPublished)
      await this.instances.hold(tx, revisionId, `binding:${binding.id}`, WARM_SECONDS);
    await this.instances.release(tx, revisionId, `operation:${id}`);
  }

  /** With the credential, which the calls need. */
  private async binding({ tenantId, input }: OperationRow<QualificationInput>): Promise<CallableBinding> {
    const binding = await this.database.tx('system', (tx) =>
      tx
        .repository(BindingEntity)
        .findOne({
          select: { id: true, target: true, revision_id: true, credential: true },
          where: { tenant_id: tenantId, id: input.bindingId },
        }),
    );
    if (!binding)
      throw new StepFailed(operationFailures.validation_failed, 'the binding is gone', { retryable: false });
    return binding;
  }
}

const GONE: CallResult = {
  passed: false,
  message: 'no instance of the revision is ready',
  isOutage: true,
  durationMs: 0,
};
