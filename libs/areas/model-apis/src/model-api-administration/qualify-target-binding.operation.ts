import { PERMANENT_REASONS, type PromisedTraits } from '@slipway/contracts';
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
  type OperationFailure,
  type OperationOf,
  type OperationRow,
  type OperationOutcome,
  type Step,
  type StepContext,
  type StepName,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { instanceFailures, INSTANCES, type AdoptedServer, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import {
  checksOf,
  isQualified,
  QUALIFICATION_CHECKS,
  type QualificationCheck,
} from '@slipway/target-driver/qualification';
import type { QualificationCheckDto } from './binding.dto.js';
import { BindingEntity, withResult } from './binding.entity.js';
import { ADD_BINDING_CHECK, LOCK_BINDING, type LockedBinding } from './binding.query.js';
import { PublicationEntity } from './publication.entity.js';
import {
  instancesToCall,
  QualificationCalls,
  SILENT_TARGET_RESULT,
  WAITING_TARGET_RESULT,
} from './qualification-calls.js';
import { LONGEST_URL_SHOWN } from './qualified-target.js';

/** The part of a check's result that its step keeps for later steps. */
type CheckStepResult = QualificationCheckDto & { isOutage?: boolean; isSilent?: boolean; requestsWait?: boolean };

export interface QualificationInput {
  bindingId: string;
  /** Null for a supplier. */
  revisionId: string | null;
  deploymentId: string | null;
}

/**
 * Qualifies a target binding:
 *
 *   prepare → await_ready → the checks for its engine (`stepsFor`) → conclude
 *   on failure or cancel: release_target
 *
 * The calls record their findings and never fail, so that one qualification reports every problem; `conclude` judges.
 * A target is called again unless it let a time-out pass or requests a longer wait than is obeyed. No text of a target
 * gets into a row, an event or a message, and no address except those in the revision's spec.
 */
export const QUALIFICATION = defineOperation({
  kind: 'qualify_target_binding',
  priority: 'outbound',
  input: inputOf<QualificationInput>(),
  steps: ['prepare', 'await_ready', ...QUALIFICATION_CHECKS, 'conclude'],
  unwind: { release_target: ['prepare', 'await_ready', ...QUALIFICATION_CHECKS, 'conclude'] },
});

/** Returns the steps of a qualification of a target with these promised traits, of which a supplier has none. */
export function stepsFor(
  traits: PromisedTraits | undefined,
  promisedContext: number | null,
): StepName<typeof QUALIFICATION>[] {
  return ['prepare', 'await_ready', ...checksOf(traits, promisedContext), 'conclude'];
}

type Context = StepContext<QualificationInput>;

/** An engine's own limit counts if it is longer, and then includes the time for a second start. */
const READY_LIMIT_SECONDS = 600;
const READY_POLL_MS = 500;
/**
 * If several servers are adopted, each has to report that it has the model. A server that is down is given this much
 * time.
 */
const OTHERS_WAIT_MS = 10_000;
/** The longest `Retry-After` of a target that a check obeys, and how often. Beyond that, the check fails. */
const LONGEST_REQUESTED_WAIT_MS = 60_000;
const MOST_REQUESTED_WAITS = 3;
/** A revision stays up this long for the publication that usually follows. */
const WARM_SECONDS = 3_600;

@Injectable()
@DurableOperation(QUALIFICATION)
export class QualifyTargetBindingOperation implements OperationOf<typeof QUALIFICATION> {
  readonly steps = {
    prepare: (context: Context) => this.prepare(context),
    await_ready: (context: Context) => this.awaitReady(context),
    ...this.checks(),
    conclude: (context: Context) => this.conclude(context),
  };

  readonly unwind = { release_target: async () => done() };

  constructor(
    private readonly database: Database,
    private readonly calls: QualificationCalls,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  private checks(): Record<QualificationCheck, Step<QualificationInput>> {
    const step = (name: QualificationCheck) => [name, (context: Context) => this.check(context, name)] as const;
    return Object.fromEntries(QUALIFICATION_CHECKS.map(step)) as Record<QualificationCheck, Step<QualificationInput>>;
  }

  private async prepare({ operation, input }: Context): Promise<StepOutcome> {
    return done({
      commit: async (tx) => {
        await tx
          .repository(BindingEntity)
          .update({ tenant_id: operation.tenantId, id: input.bindingId }, { checks: [] });
        if (input.revisionId === null) return;
        const [revision] = await this.revisions.getMany(tx, [input.revisionId]);
        if (!revision)
          throw new StepFailed(operationFailures.validation_failed, 'The revision no longer exists.', {
            retryable: false,
          });
        const { tenantId, deploymentId, id: revisionId, name: revisionName, spec } = revision;
        const workload = { tenantId, deploymentId, revisionId, revisionName, spec };
        await this.instances.want(tx, workload, `operation:${operation.id}`);
      },
    });
  }

  private async awaitReady({ operation, input, step }: Context): Promise<StepOutcome> {
    const { revisionId } = input;
    if (revisionId === null) return done({ skipped: true, message: 'The supplier runs the server.' });
    const { status, servers } = await this.database.tx('system', async (tx) => ({
      status: await this.instances.status(tx, revisionId),
      servers: await this.instances.adoptedServers(tx, revisionId),
    }));
    assertNoneChanged(servers);
    const ready = await this.calls.ready({ tenantId: operation.tenantId, ...input });
    const isServing = status !== undefined && status.ready > 0 && ready.length > 0;
    const isComplete = servers.length < 2 || status?.ready === status?.desired || step.elapsedMs() >= OTHERS_WAIT_MS;
    if (isServing && isComplete) {
      const message = `${status.ready} of ${status.desired} instances are ready`;
      return done({ message, result: { called: instancesToCall(ready, servers) } });
    }
    if (status && !isServing) this.instances.assertMayBecomeReady(status);
    if (status?.reason && status.ready === 0 && PERMANENT_REASONS.has(status.reason))
      throw new StepFailed(
        instanceFailures.target_not_ready,
        `The revision has no ready instance, and waiting will not help: ${status.reason}`,
        { evidence: { cause: status.reason } },
      );
    const traits = await this.traits(revisionId);
    const limitSeconds = Math.max(READY_LIMIT_SECONDS, 2 * (traits?.readyTimeoutSeconds ?? 0));
    const leftMs = limitSeconds * 1_000 - step.elapsedMs();
    if (leftMs <= 0)
      throw new StepFailed(
        this.instances.lateFailure(status),
        `The revision had no ready instance after ${limitSeconds} s: ${this.instances.waitMessage(status)}`,
      );
    return sleep({
      forMs: Math.min(READY_POLL_MS, leftMs),
      status: 'running',
      message: this.instances.waitMessage(status),
      commit: (tx) => this.instances.wakeOnChange(tx, revisionId, operation.id),
    });
  }

  private async check(
    { operation, input, step, results, signal, state }: Context,
    name: QualificationCheck,
  ): Promise<StepOutcome> {
    // A retry still has the results of the calls after this one.
    const before = QUALIFICATION_CHECKS.slice(0, QUALIFICATION_CHECKS.indexOf(name));
    const earlier = before.flatMap((one) => (results[one] as CheckStepResult | undefined) ?? []);
    const uncalled = earlier.some(({ isSilent }) => isSilent)
      ? SILENT_TARGET_RESULT
      : earlier.some(({ requestsWait }) => requestsWait)
        ? WAITING_TARGET_RESULT
        : undefined;
    const called = (results['await_ready'] as { called?: string[] } | undefined)?.called;
    const shown =
      uncalled ?? (await this.calls.check(name, { tenantId: operation.tenantId, ...input }, { called, signal }));
    const { result, isOutage, isSilent, durationMs, retryAfterMs } = shown;
    const waits = Number(state?.['waits'] ?? 0);
    const requestsWait = result === 'failed' && retryAfterMs !== undefined;
    if (requestsWait && retryAfterMs <= LONGEST_REQUESTED_WAIT_MS && waits < MOST_REQUESTED_WAITS)
      return sleep({
        forMs: Math.max(retryAfterMs, READY_POLL_MS),
        status: 'running',
        state: { waits: waits + 1 },
        message: `${shown.message}; ${waitText(retryAfterMs)}`,
      });
    const message = requestsWait ? `${shown.message}; ${waitText(retryAfterMs)}` : shown.message;
    const check: QualificationCheckDto = {
      name: step.name,
      passed: result === 'passed',
      result,
      message,
      duration_ms: durationMs,
    };
    return done({
      message,
      evidence: check,
      result: { ...check, isOutage, isSilent, requestsWait },
      commit: async (tx) => void (await tx.query(ADD_BINDING_CHECK, [input.bindingId, JSON.stringify(check)])),
    });
  }

  /** Reads the current promises of the operator's file: a repaired template holds for a retry. */
  private async traits(revisionId: string): Promise<PromisedTraits | undefined> {
    const [revision] = await this.database.tx('system', (tx) => this.revisions.getMany(tx, [revisionId]));
    return revision && this.instances.traits(revision.spec);
  }

  private async conclude({ input, results }: Context): Promise<StepOutcome> {
    const checks = QUALIFICATION_CHECKS.filter((name) => results[name]).map((name) =>
      withResult(results[name] as CheckStepResult),
    );
    if (isQualified(checks)) {
      const { revisionId } = input;
      if (revisionId !== null)
        assertNoneChanged(await this.database.tx('system', (tx) => this.instances.adoptedServers(tx, revisionId)));
      return done({ message: 'The binding is qualified.', operationResult: { qualified: true } });
    }
    const { dependency_outage, validation_failed } = operationFailures;
    const failed = checks.filter(({ result }) => result === 'failed');
    if (failed.length === 0)
      throw new StepFailed(
        validation_failed,
        'The target passed no check of an API that its engine is declared to serve.',
      );
    const code = failed.some((check) => check.isOutage) ? dependency_outage : validation_failed;
    throw new StepFailed(
      code,
      `${failed.length} of ${checks.length} checks failed: ${failed.map(({ name, message }) => `${name}: ${message}`).join('; ')}`,
    );
  }

  /**
   * Frees the binding, with the state that its checks give it. A binding that could serve and now fails must not be
   * published again.
   */
  async finish(
    tx: Tx,
    { id, tenantId, input }: OperationRow<QualificationInput>,
    outcome: OperationOutcome,
    failure?: OperationFailure,
  ) {
    const binding = await tx.one<LockedBinding>(LOCK_BINDING, [input.bindingId, tenantId]);
    if (!binding) return undefined;
    if (outcome === 'failed' && binding.checks.every((check) => withResult(check).result !== 'failed')) {
      await tx.query(ADD_BINDING_CHECK, [
        binding.id,
        JSON.stringify({
          name: 'target',
          passed: false,
          result: 'failed',
          message: failure?.message ?? 'failed',
          duration_ms: null,
        }),
      ]);
    }
    const failedState = binding.state === 'qualified' ? 'suspended' : binding.state;
    const state = outcome === 'succeeded' ? 'qualified' : outcome === 'failed' ? failedState : binding.state;
    await tx
      .repository(BindingEntity)
      .update({ tenant_id: tenantId, id: binding.id }, { operation_id: null, state, checked_at: () => 'now()' });
    if (binding.revision_id !== null) await this.moveRetention(tx, binding, { id, tenantId }, outcome);
    return { result: { qualified: outcome === 'succeeded', binding_id: binding.id } };
  }

  /** A retry of an old qualification must not run concurrently with a new one. */
  async reclaim(tx: Tx, { id, tenantId, input }: OperationRow<QualificationInput>): Promise<void> {
    const binding = await tx.one<LockedBinding>(LOCK_BINDING, [input.bindingId, tenantId]);
    if (!binding) throw operationErrors.operation_not_retryable();
    if (binding.operation_id)
      throw operationErrors.operation_in_progress({
        message: `Operation ${binding.operation_id} is already qualifying this binding.`,
        extra: { operation_id: binding.operation_id },
      });
    await tx.repository(BindingEntity).update({ tenant_id: tenantId, id: binding.id }, { operation_id: id });
  }

  private async moveRetention(
    tx: Tx,
    binding: LockedBinding,
    { id, tenantId }: Pick<OperationRow, 'id' | 'tenantId'>,
    outcome: OperationOutcome,
  ): Promise<void> {
    const revisionId = binding.revision_id as string;
    const current = await tx
      .repository(PublicationEntity)
      .findOneBy({ tenant_id: tenantId, product_id: binding.product_id, state: 'published' });
    const isPublished = current?.bindings.some(({ binding_id }) => binding_id === binding.id) ?? false;
    if (outcome === 'succeeded' && !isPublished)
      await this.instances.retain(tx, revisionId, `binding:${binding.id}`, WARM_SECONDS);
    await this.instances.release(tx, revisionId, `operation:${id}`);
  }
}

function waitText(requestedMs: number): string {
  const seconds = Math.ceil(requestedMs / 1_000);
  return `the target requests a wait of ${seconds <= MOST_SECONDS_SHOWN ? seconds : `more than ${MOST_SECONDS_SHOWN}`} s`;
}

const MOST_SECONDS_SHOWN = 86_400;

/** Without this check, requests would reach the server again as soon as it is no longer distinguished. */
function assertNoneChanged(servers: readonly AdoptedServer[]): void {
  const changed = servers
    .filter(({ model }) => model === 'changed')
    .map(({ instanceId, baseUrl }) => baseUrl?.slice(0, LONGEST_URL_SHOWN) ?? instanceId);
  if (changed.length === 0) return;
  const more = changed.length > 1 ? ` and ${changed.length - 1} more` : '';
  throw new StepFailed(
    instanceFailures.target_not_ready,
    `The model of ${changed[0]}${more} differs from the revision, and waiting will not help: model_changed`,
    { evidence: { cause: 'model_changed' } },
  );
}
