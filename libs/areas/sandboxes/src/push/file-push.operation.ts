import { Inject, Injectable, Optional } from '@nestjs/common';
import { joinSignals } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret, type Tx } from '@slipway/platform-database';
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
  type StepContext,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { EgressRefusedError, Egress } from '@slipway/platform-egress';
import { Not } from 'typeorm';
import { FileEntity } from '../files/file.entity.js';
import { FIND_FILE_PUSH, type FilePushRow } from './file-push.query.js';
import { SandboxEntity } from '../sandbox.entity.js';
import { BLOB_STORE, StoreStalledError, type BlobStore } from '../storage/blob-store.js';
import { TRANSFER_IDLE_TIMEOUT, TRANSFER_IDLE_TIMEOUT_MS, transferLimitMs } from '../storage/time-limits.js';
import { PushCuts } from './push-cuts.js';
import { pushRequest, sendFile } from './push-request.js';

/** Tries of one push. With the waits below they span more than half an hour, enough for a sandbox to resume. */
const MAX_TRIES = 14;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
/** The longest `Retry-After` that is obeyed: a provider with a wrong clock must not hold a file back for days. */
const LONGEST_REQUESTED_WAIT_MS = 3_600_000;
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** The result of one request. */
interface PushResult {
  /** The content that was sent. */
  blob: string;
  problem?: string;
  retryAfterMs?: number;
}

interface FilePushInput {
  sandboxId: string;
  path: string;
  /** The content as uploaded. A file that names another blob by now has been replaced. */
  blob: string;
}

/**
 * Passes one file on to the external sandbox of a reference:
 *
 *   push: read the row → send → read it again → note `synced`
 *   an outage sleeps and sends again; a refusal ends as `failed`
 *
 * Two uploads to one path start two of these operations, and either may overtake the other. So an operation that has
 * sent a replaced version sends the current file before it ends: the newest version arrives last.
 *
 * It sends with the credential as stored at that moment, through the egress guard, and follows no redirect. It quotes
 * nothing of the answer, because an answer may repeat the credential.
 */
export const FILE_PUSH = defineOperation({
  kind: 'sandbox_file_push',
  priority: 'outbound',
  input: inputOf<FilePushInput>(),
  steps: ['push'],
});

type Context = StepContext<FilePushInput>;

@Injectable()
@DurableOperation(FILE_PUSH)
export class FilePushOperation implements OperationOf<typeof FILE_PUSH> {
  readonly steps = { push: (context: Context) => this.push(context) };
  readonly unwind = {};

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    @Inject(BLOB_STORE) private readonly store: BlobStore,
    private readonly egress: Egress,
    private readonly cuts: PushCuts,
    @Optional() @Inject(TRANSFER_IDLE_TIMEOUT) private readonly idleTimeoutMs = TRANSFER_IDLE_TIMEOUT_MS,
  ) {}

  async finish(
    tx: Tx,
    { input, tenantId }: OperationRow<FilePushInput>,
    outcome: OperationOutcome,
    failure?: OperationFailure,
  ): Promise<void> {
    if (outcome === 'succeeded') return;
    await note(tx, tenantId, input, { sync: 'failed', sync_error: failure?.message ?? outcome });
  }

  /** A retry is worthwhile only while the file is this one and access is not revoked. */
  async reclaim(tx: Tx, { input, tenantId }: OperationRow<FilePushInput>): Promise<void> {
    const row = await tx.one<FilePushRow>(FIND_FILE_PUSH, [input.sandboxId, input.path]);
    if (row?.state !== 'active' || row.blob !== input.blob) throw operationErrors.operation_not_retryable();
    await note(tx, tenantId, input, { sync: 'pending', sync_error: null });
  }

  private async push(context: Context): Promise<StepOutcome> {
    const { input, operation, signal, state } = context;
    const before = await this.find(input);
    const tries = Number(state?.['tries'] ?? 0);
    // A worker that died may have sent something, too.
    const hasSent = tries > 0 || operation.attempt > 1;
    if (!before || (before.blob !== input.blob && !hasSent))
      return done({ skipped: true, message: 'The file was replaced or no longer exists.' });
    const sent = await this.cuts.guard(before.referenceId, (revoked) => {
      const either = joinSignals(revoked, signal);
      return this.send(input, either.signal).finally(either.stop);
    });
    if (sent.problem !== undefined) return this.again(tries + 1, sent.problem, sent.retryAfterMs);
    const after = await this.find(input);
    if (after && after.blob !== sent.blob) return this.again(tries + 1, 'the file was replaced in the meantime');
    return this.synced(operation.tenantId, { ...input, blob: sent.blob });
  }

  /** @param requestedMs lengthens the wait and never shortens it, so that the tries are not used up in seconds */
  private again(tries: number, problem: string, requestedMs = 0): StepOutcome {
    if (tries >= MAX_TRIES)
      throw new StepFailed(operationFailures.dependency_outage, `Gave up after ${tries} attempts: ${problem}`);
    const ownMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
    const forMs = Math.max(ownMs, Math.min(requestedMs, LONGEST_REQUESTED_WAIT_MS));
    return sleep({ forMs, status: 'running', state: { tries }, message: `Attempt ${tries} failed: ${problem}` });
  }

  private async find({ sandboxId, path }: FilePushInput): Promise<FilePushRow | undefined> {
    const [row] = await this.database.read<FilePushRow>('system', FIND_FILE_PUSH, [sandboxId, path]);
    return row;
  }

  /**
   * Sends the current file. `problem` is the reason why it did not arrive, if a retry may help.
   * @throws StepFailed if a retry will not help
   */
  private async send(input: FilePushInput, signal: AbortSignal): Promise<PushResult> {
    const row = await this.find(input);
    if (!row) return { blob: '', problem: 'the file no longer exists' };
    if (row.state === 'revoked')
      throw new StepFailed(operationFailures.validation_failed, 'Access to the external sandbox was revoked.', {
        retryable: false,
      });
    const credential =
      row.credential === null ? undefined : openSecret(this.config.keyRing, row.credential, row.referenceId);
    if (!this.egress.permits(row.tenantName, row.baseUrl))
      throw new StepFailed(
        operationFailures.validation_failed,
        'The operator does not allow sending files to base_url.',
      );
    const content = await this.store.read(row.blob, signal).catch(() => undefined);
    if (!content) return { blob: row.blob, problem: 'the workspace store did not return the file' };
    const sizeBytes = Number(row.sizeBytes);
    try {
      const push = pushRequest({ ...row, credential }, { path: input.path, sizeBytes, content });
      const limitMs = transferLimitMs(sizeBytes);
      const dispatcher = this.egress.dispatcher(this.egress.patterns(row.tenantName));
      const answer = await sendFile(push, { dispatcher, signal, limitMs, idleTimeoutMs: this.idleTimeoutMs });
      return { blob: row.blob, problem: judge(answer.status), retryAfterMs: answer.retryAfterMs };
    } catch (failure) {
      if (failure instanceof StepFailed) throw failure;
      if (failure instanceof EgressRefusedError)
        throw new StepFailed(
          operationFailures.validation_failed,
          `The egress guard refused the request: ${failure.message}`,
        );
      // Either side may have stopped: the reader waits while the receiver takes nothing.
      if (failure instanceof StoreStalledError)
        return { blob: row.blob, problem: 'the transfer from the workspace store to the external sandbox stalled' };
      const { code, name } = failure as { code?: string; name?: string };
      return { blob: row.blob, problem: `the external sandbox could not be reached (${code ?? name ?? 'unknown'})` };
    } finally {
      content.destroy();
    }
  }

  private synced(tenantId: string, sent: FilePushInput): StepOutcome {
    return done({
      message: 'The external sandbox has the file.',
      commit: async (tx) => {
        await note(tx, tenantId, sent, { sync: 'synced', sync_error: null });
        const seen = { state: 'running', state_observed_at: () => 'now()' } as const;
        await tx.repository(SandboxEntity).update({ id: sent.sandboxId, tenant_id: tenantId }, seen);
      },
    });
  }
}

/**
 * Stores the state of a push. A file that was replaced in the meantime has a push of its own and is left alone. A push
 * that failed before keeps its first reason.
 */
async function note(
  tx: Tx,
  tenantId: string,
  { sandboxId, path, blob }: FilePushInput,
  standing: Pick<FileEntity, 'sync' | 'sync_error'>,
): Promise<void> {
  const sent = { sandbox_id: sandboxId, path, tenant_id: tenantId, blob };
  const unlessFailed = standing.sync === 'failed' && { sync: Not('failed' as const) };
  await tx.repository(FileEntity).update({ ...sent, ...unlessFailed }, standing);
}

function judge(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 500 || RETRYABLE_STATUSES.has(status)) return `the external sandbox returned ${status}`;
  throw new StepFailed(
    operationFailures.validation_failed,
    `The external sandbox rejected the file with status ${status}.`,
  );
}
