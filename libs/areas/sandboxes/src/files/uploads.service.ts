import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import {
  assertPreconditions,
  errors,
  reply,
  SlipwayError,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations, StoredAnswer, type ClaimedKey } from '@slipway/platform-durable/mutations';
import { OperationStore } from '@slipway/platform-durable/operations';
import { CONFIG, PausePoints, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { reserveQuota, quotaExceeded } from '@slipway/platform-durable/quotas';
import { And, In, LessThan, MoreThanOrEqual } from 'typeorm';
import type { FileUpload } from './file-request.js';
import { foldersOf } from './file-path.js';
import { fileAnswer, fileEtag } from './file.dto.js';
import { FileEntity } from './file.entity.js';
import { MeteredBody } from './metered-body.js';
import { UploadReservations } from './upload-reservations.js';
import { FILE_PUSH } from '../push/file-push.operation.js';
import type { ReferenceEntity } from '../references/reference.entity.js';
import { SHARE_SANDBOX_REFERENCE } from '../references/reference.query.js';
import { SandboxEntity } from '../sandbox.entity.js';
import { sandboxErrors, storeUnavailable } from '../sandbox.errors.js';
import { findSandbox, lockSandbox } from '../sandbox.query.js';
import { BLOB_STORE, newBlob, StoreFullError, StoreStalledError, type BlobStore } from '../storage/blob-store.js';
import { StrayBlobs } from '../storage/stray-blobs.js';

type ConditionalUpload = FileUpload & { conditions: Preconditions };

/** The capacity of a workspace for one file. */
interface FileCapacity {
  freeBytes: number;
  /** The size of the file that it replaces. */
  replacedBytes: number;
}

interface WrittenBlob {
  blob: string;
  sizeBytes: number;
  sha256: string;
}

/**
 * Takes a file into a workspace:
 *
 *   stray row, with reserved bytes → blob (`.part`, fsync, rename, fsync) → one transaction: name the blob, delete the row
 *
 * The blob is new, so the old file stays whole until that transaction commits. A process that dies before it leaves a
 * stray row that expires; the sweep then removes what was written. No repair has to compare anything.
 */
@Injectable()
export class UploadsService {
  constructor(
    @Inject(CONFIG) private readonly config: QuotaConfig,
    private readonly database: Database,
    @Inject(BLOB_STORE) private readonly store: BlobStore,
    private readonly strays: StrayBlobs,
    private readonly reservations: UploadReservations,
    private readonly mutations: Mutations,
    private readonly operations: OperationStore,
    private readonly pausePoints: PausePoints,
  ) {}

  async put(who: Principal, sandboxId: string, upload: ConditionalUpload): Promise<Reply> {
    const capacity = await this.judge(who.tenantId, sandboxId, upload);
    const key = upload.idempotency && (await this.mutations.hold({ tenantId: who.tenantId }, upload.idempotency));
    if (key instanceof StoredAnswer) return key.replay(await fingerprintOf(upload));
    try {
      return await this.keep(who, sandboxId, upload, await capacity(), key);
    } catch (failure) {
      await key?.release();
      throw failure;
    }
  }

  /**
   * Checks everything that is known before the body is read. A retry must still get its answer if its first try has
   * filled the workspace. So the capacity is checked after the key, by the returned function.
   */
  private async judge(
    tenantId: string,
    sandboxId: string,
    upload: ConditionalUpload,
  ): Promise<() => Promise<FileCapacity>> {
    const sandbox = await this.database.tx({ tenantId }, async (tx) => {
      const found = await findSandbox(tx, tenantId, sandboxId);
      await this.assertReachable(tx, tenantId, found);
      return found;
    });
    if ((upload.declaredBytes ?? 0) > upload.maxBytes)
      throw sandboxErrors.file_too_large({ extra: { max_bytes: upload.maxBytes } });
    upload.verifyMessage();
    return () =>
      this.database.tx({ tenantId }, async (tx) => {
        const replaced = await this.assertFits(tx, tenantId, sandboxId, upload);
        const freeBytes = capacityFor(sandbox, replaced, upload.declaredBytes ?? 0);
        return { freeBytes, replacedBytes: replaced?.size_bytes ?? 0 };
      });
  }

  private async keep(
    who: Principal,
    sandboxId: string,
    upload: ConditionalUpload,
    { freeBytes, replacedBytes }: FileCapacity,
    key: ClaimedKey | undefined,
  ): Promise<Reply> {
    const blob = newBlob(sandboxId);
    const { declaredBytes } = upload;
    const reservation = await this.reservations.begin(who, { sandboxId, blob, declaredBytes, replacedBytes });
    const cover = (bytes: number) => reservation.cover(bytes);
    const body = new MeteredBody(upload.source, { ...upload, capacity: freeBytes, cover });
    try {
      await this.store.write(blob, body.stream(), { bytes: declaredBytes ?? upload.maxBytes });
      await this.pausePoints.reach('sandboxes:upload:written');
      const written = { blob, sizeBytes: body.bytes, sha256: body.sha256 };
      await key?.settle();
      const { answer, replaced } = await this.mutations.run({ principal: who }, (tx) =>
        this.commit(tx, who, sandboxId, upload, written, key),
      );
      await this.pausePoints.reach('sandboxes:upload:after-commit');
      if (replaced) await this.strays.discard(who.tenantId, replaced.blob);
      return answer;
    } catch (failure) {
      // A write that began in a stalled store may still happen. The sweep removes the blob when the lease is over.
      if (!(failure instanceof StoreStalledError)) await this.strays.discard(who.tenantId, blob);
      throw body.failure === undefined ? storeRefusal(failure) : bodyRefusal(body.failure);
    } finally {
      reservation.stop();
    }
  }

  /** Makes the blob a file. Repeats every earlier check under the workspace's lock. */
  private async commit(
    tx: Tx,
    who: Principal,
    sandboxId: string,
    upload: ConditionalUpload,
    written: WrittenBlob,
    key: ClaimedKey | undefined,
  ): Promise<{ answer: Reply; replaced?: FileEntity }> {
    const { tenantId } = who;
    const sandbox = await lockSandbox(tx, tenantId, sandboxId);
    await this.assertReachable(tx, tenantId, sandbox);
    const replaced = await this.assertFits(tx, tenantId, sandboxId, upload);
    capacityFor(sandbox, replaced, written.sizeBytes);
    await this.reserveQuotas(tx, who, sandbox, written.sizeBytes, replaced);
    if (!(await this.strays.take(tx, tenantId, written.blob)))
      throw errors.unavailable({ message: 'The lease of the upload expired before the upload ended.' });
    const operationId =
      sandbox.reference_id === null ? null : await this.startPush(tx, who, sandboxId, upload.path, written.blob);
    const row = await write(tx, sandbox, upload, written, operationId, replaced);
    if (replaced) await this.strays.add(tx, tenantId, sandboxId, replaced.blob);
    await appendAudit(tx, {
      action: 'sandbox_file.put',
      resourceType: 'sandbox',
      resourceName: sandboxId,
      before: replaced && { path: upload.path, sha256: replaced.sha256 },
      after: fileAnswer(row),
    });
    const answer = answerOf(row, replaced !== undefined);
    await key?.complete(tx, answer, upload.fingerprint(written.sha256));
    await this.pausePoints.reach('sandboxes:upload:before-commit');
    return { answer, replaced };
  }

  /** @throws sandbox_reference_revoked (410) */
  private async assertReachable(tx: Tx, tenantId: string, sandbox: SandboxEntity): Promise<void> {
    if (sandbox.reference_id === null) return;
    const reference = await tx.one<Pick<ReferenceEntity, 'state'>>(SHARE_SANDBOX_REFERENCE, [
      sandbox.reference_id,
      tenantId,
    ]);
    if (reference?.state !== 'active') throw sandboxErrors.sandbox_reference_revoked();
  }

  /**
   * Returns the file that would be replaced. @throws precondition_failed (412); file_exists (409) if it must not be
   * replaced, or if a folder is in the way
   */
  private async assertFits(
    tx: Tx,
    tenantId: string,
    sandboxId: string,
    { path, overwrite, conditions }: ConditionalUpload,
  ): Promise<FileEntity | undefined> {
    const files = tx.repository(FileEntity);
    const ofSandbox = { sandbox_id: sandboxId, tenant_id: tenantId };
    const replaced = await files.findOneBy({ ...ofSandbox, path });
    assertPreconditions(conditions, replaced ? fileEtag(replaced) : undefined);
    if (replaced && !overwrite) throw sandboxErrors.file_exists();
    if (replaced) return replaced;
    // '0' is the character after '/', so the paths below this path are exactly those from `path/` up to, but without,
    // `path0`.
    const under = And(MoreThanOrEqual(`${path}/`), LessThan(`${path}0`));
    const obstacle = await files.findOneBy([
      { ...ofSandbox, path: In(foldersOf(path)) },
      { ...ofSandbox, path: under },
    ]);
    if (!obstacle) return undefined;
    const why =
      obstacle.path.length < path.length
        ? `${obstacle.path} is a file, so it cannot contain other files.`
        : `${path} is a folder, because it contains ${obstacle.path}.`;
    throw sandboxErrors.file_exists({ message: why, remediation: 'Choose another path.' });
  }

  /**
   * Files are counted under the lock of their sandbox, bytes under a lock of the tenant: those of the upload move from
   * its reservation to the workspace. An empty file takes no bytes, but it takes a row and an object of the store.
   * @throws quota_exceeded (429)
   */
  private async reserveQuotas(
    tx: Tx,
    { tenantId, tenantName }: Principal,
    sandbox: SandboxEntity,
    sizeBytes: number,
    replaced: FileEntity | undefined,
  ): Promise<void> {
    const quotas = quotasOf(this.config, tenantName);
    if (!replaced && sandbox.file_count >= quotas.sandbox_files)
      throw quotaExceeded('sandbox_files', quotas.sandbox_files);
    const adding = sizeBytes - (replaced?.size_bytes ?? 0);
    if (adding <= 0) return;
    const bytes = async () => (await tx.repository(SandboxEntity).sum('bytes_used', { tenant_id: tenantId })) ?? 0;
    await reserveQuota(tx, { tenantId, quota: 'sandbox_bytes', limit: quotas.sandbox_bytes }, bytes, adding);
  }

  private async startPush(tx: Tx, who: Principal, sandboxId: string, path: string, blob: string): Promise<string> {
    const claim = { operation: FILE_PUSH, resourceType: 'sandbox', resourceName: sandboxId, requestedBy: who.actor };
    const { id } = await this.operations.claim(tx, claim);
    const [stream, input] = [`sandbox/${sandboxId}`, { sandboxId, path, blob }];
    await this.operations.start(tx, {
      id,
      operation: FILE_PUSH,
      resourceId: sandboxId,
      stream,
      input,
      steps: FILE_PUSH.steps,
    });
    return id;
  }
}

/** Returns the bytes that a file may have here. @throws workspace_full (507) if the known bytes do not fit */
function capacityFor(sandbox: SandboxEntity, replaced: FileEntity | undefined, bytes: number): number {
  const capacity = sandbox.bytes_limit - sandbox.bytes_used + (replaced?.size_bytes ?? 0);
  if (bytes > capacity) throw sandboxErrors.workspace_full();
  return capacity;
}

/** A retry has to send its body again: only the digest of the body shows whether it is the same request. */
async function fingerprintOf(upload: FileUpload): Promise<string> {
  const body = new MeteredBody(upload.source, { ...upload, capacity: Infinity });
  await body.drain();
  return upload.fingerprint(body.sha256);
}

/** Needs no ON CONFLICT: every writer of files of a sandbox holds the lock on its row. */
async function write(
  tx: Tx,
  { id, tenant_id, bytes_used, file_count }: SandboxEntity,
  { path, mode }: FileUpload,
  { blob, sizeBytes, sha256 }: WrittenBlob,
  operationId: string | null,
  replaced: FileEntity | undefined,
): Promise<FileEntity> {
  const files = tx.repository(FileEntity);
  const key = { sandbox_id: id, path, tenant_id };
  const sync = operationId === null ? 'none' : 'pending';
  const content = { blob, size_bytes: sizeBytes, sha256, mode, sync, sync_operation_id: operationId } as const;
  if (replaced) await files.update(key, { ...content, modified_at: () => 'now()', sync_error: null });
  else await files.insert({ ...key, ...content });
  const sums = {
    bytes_used: bytes_used + sizeBytes - (replaced?.size_bytes ?? 0),
    file_count: file_count + (replaced ? 0 : 1),
  };
  await tx.repository(SandboxEntity).update({ id, tenant_id }, sums);
  return files.findOneByOrFail(key);
}

function answerOf(row: FileEntity, isReplaced: boolean): Reply {
  const location = `/api/v1/sandboxes/${row.sandbox_id}/files?path=${encodeURIComponent(row.path)}`;
  return reply(isReplaced ? 200 : 201, fileAnswer(row), { etag: fileEtag(row), ...(isReplaced ? {} : { location }) });
}

/** If a stream fails although no rule was broken, the client has closed the connection. */
function bodyRefusal(failure: unknown): Error {
  if (failure instanceof SlipwayError) return failure;
  return errors.invalid_parameter({ message: 'The request ended before its body was complete.', cause: failure });
}

function storeRefusal(failure: unknown): unknown {
  if (failure instanceof StoreStalledError) return storeUnavailable(failure);
  if (!(failure instanceof StoreFullError)) return failure;
  return sandboxErrors.workspace_full({
    message: 'The workspace store is full.',
    remediation: 'Ask the operator to extend the store.',
    cause: failure,
  });
}
