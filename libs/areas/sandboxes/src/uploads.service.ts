import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { errors, rawJson, reply, SlipwayError, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit, IdempotentMutation, StoredAnswer, type HeldKey } from '@slipway/platform-mutations';
import { OperationStore, type Claimed } from '@slipway/platform-operations';
import { PausePoints } from '@slipway/platform-config';
import type { FileUpload } from './file-request.js';
import { foldersOf } from './file-path.js';
import { FIND_FILE, FIND_OBSTACLE, UPSERT_FILE, type FileAnswerRow, type FileRow } from './file.query.js';
import { MeteredBody } from './metered-body.js';
import { FILE_PUSH } from './push/file-push.operation.js';
import { SHARE_REFERENCE, type ReferenceRow } from './reference.query.js';
import { sandboxErrors } from './sandbox.errors.js';
import { FIND_WORKSPACE, GROW_WORKSPACE, LOCK_WORKSPACE, type WorkspaceRow } from './sandbox.query.js';
import { BLOB_STORE, newBlob, StoreFull, type BlobStore } from './storage/blob-store.js';
import { StrayBlobs } from './stray-blobs.js';

interface Written {
  blob: string;
  sizeBytes: number;
  sha256: string;
}

/**
 * Takes a file into a workspace:
 *
 *   stray row → blob (`.part`, fsync, rename, fsync) → one transaction: the file names the blob, the stray row goes
 *
 * The blob is new, so the old file stays whole until that transaction commits. Whatever dies before it leaves a stray row
 * that expires; the sweep then removes what was written. No repair has to compare anything.
 */
@Injectable()
export class UploadsService {
  constructor(
    private readonly database: Database,
    @Inject(BLOB_STORE) private readonly store: BlobStore,
    private readonly strays: StrayBlobs,
    private readonly mutations: IdempotentMutation,
    private readonly operations: OperationStore,
    private readonly pausePoints: PausePoints,
  ) {}

  async put(who: Principal, sandboxId: string, upload: FileUpload): Promise<Reply> {
    const room = await this.judge(who.tenantId, sandboxId, upload);
    const key = upload.idempotency && (await this.mutations.hold({ tenantId: who.tenantId }, upload.idempotency));
    if (key instanceof StoredAnswer) return key.replay(await fingerprintOf(upload));
    try {
      return await this.keep(who, sandboxId, upload, await room(), key);
    } catch (failure) {
      await key?.release();
      throw failure;
    }
  }

  /**
   * What can be told before the body is read. A retry whose first try has filled the workspace must still get its answer, so
   * the room is judged after the key: the returned function returns the bytes that are left for this file.
   */
  private async judge(tenantId: string, sandboxId: string, upload: FileUpload): Promise<() => Promise<number>> {
    const workspace = await this.database.tx({ tenantId }, async (tx) => {
      const found = await tx.one<WorkspaceRow>(FIND_WORKSPACE, [sandboxId, tenantId]);
      if (!found) throw sandboxErrors.sandbox_not_found();
      await this.assertReachable(tx, tenantId, found);
      return found;
    });
    if ((upload.declaredBytes ?? 0) > upload.maxBytes)
      throw sandboxErrors.file_too_large({ extra: { max_bytes: upload.maxBytes } });
    upload.verifyMessage();
    return () =>
      this.database.tx({ tenantId }, async (tx) => {
        const replaced = await this.assertFits(tx, tenantId, workspace, upload);
        return roomFor(workspace, replaced, upload.declaredBytes ?? 0);
      });
  }

  private async keep(
    who: Principal,
    sandboxId: string,
    upload: FileUpload,
    room: number,
    key: HeldKey | undefined,
  ): Promise<Reply> {
    const blob = newBlob(sandboxId);
    const held = await this.strays.hold(who.tenantId, sandboxId, blob);
    const body = new MeteredBody(upload.source, { ...upload, room });
    try {
      await this.store.write(blob, body.stream());
      await this.pausePoints.reach('sandboxes:upload:written');
      const written = { blob, sizeBytes: body.bytes, sha256: body.sha256 };
      const { answer, replaced } = await this.database.tx({ tenantId: who.tenantId }, (tx) =>
        this.commit(tx, who, sandboxId, upload, written, key),
      );
      await this.pausePoints.reach('sandboxes:upload:after-commit');
      if (replaced) await this.strays.discard(who.tenantId, replaced.blob);
      return answer;
    } catch (failure) {
      await this.strays.discard(who.tenantId, blob);
      throw body.failure === undefined ? storeRefusal(failure) : bodyRefusal(body.failure);
    } finally {
      held.letGo();
    }
  }

  /** Makes the blob a file: everything that was judged before is judged again, under the workspace's lock. */
  private async commit(
    tx: Tx,
    who: Principal,
    sandboxId: string,
    upload: FileUpload,
    written: Written,
    key: HeldKey | undefined,
  ): Promise<{ answer: Reply; replaced?: FileRow }> {
    const { tenantId } = who;
    const workspace = await tx.one<WorkspaceRow>(LOCK_WORKSPACE, [sandboxId, tenantId]);
    if (!workspace) throw sandboxErrors.sandbox_not_found();
    await this.assertReachable(tx, tenantId, workspace);
    const replaced = await this.assertFits(tx, tenantId, workspace, upload);
    roomFor(workspace, replaced, written.sizeBytes);
    if (!(await this.strays.take(tx, written.blob)))
      throw errors.unavailable({ message: 'The upload took longer than its lease was renewed.' });
    const operationId =
      workspace.referenceId === null ? null : await this.startPush(tx, who, sandboxId, upload.path, written.blob);
    const row = await tx.one<FileAnswerRow>(UPSERT_FILE, [
      sandboxId,
      upload.path,
      tenantId,
      written.blob,
      written.sizeBytes,
      written.sha256,
      upload.mode,
      operationId,
    ]);
    await tx.query(GROW_WORKSPACE, [sandboxId, written.sizeBytes - Number(replaced?.sizeBytes ?? 0), replaced ? 0 : 1]);
    if (replaced) await this.strays.add(tx, tenantId, sandboxId, replaced.blob);
    await appendAudit(tx, {
      action: 'sandbox_file.put',
      resourceType: 'sandbox',
      resourceName: sandboxId,
      before: replaced && { path: upload.path, sha256: replaced.sha256 },
      after: JSON.parse(row!.json),
    });
    const answer = answerOf(sandboxId, upload.path, row!, written, replaced !== undefined);
    await key?.complete(tx, answer, upload.fingerprint(written.sha256));
    await this.pausePoints.reach('sandboxes:upload:before-commit');
    return { answer, replaced };
  }

  /** @throws sandbox_reference_revoked (410) */
  private async assertReachable(tx: Tx, tenantId: string, { referenceId }: WorkspaceRow): Promise<void> {
    if (referenceId === null) return;
    const reference = await tx.one<ReferenceRow>(SHARE_REFERENCE, [referenceId, tenantId]);
    if (reference?.state !== 'active') throw sandboxErrors.sandbox_reference_revoked();
  }

  /** The file that would be replaced. @throws file_exists (409) if it must not be, or if a folder stands in the way */
  private async assertFits(
    tx: Tx,
    tenantId: string,
    { id }: WorkspaceRow,
    { path, overwrite }: FileUpload,
  ): Promise<FileRow | undefined> {
    const replaced = await tx.one<FileRow>(FIND_FILE, [id, path, tenantId]);
    if (replaced && !overwrite) throw sandboxErrors.file_exists();
    const obstacle = replaced ? undefined : await tx.one<{ path: string }>(FIND_OBSTACLE, [id, path, foldersOf(path)]);
    if (!obstacle) return replaced;
    const why =
      obstacle.path.length < path.length
        ? `${obstacle.path} is a file, so nothing can be under it.`
        : `${path} is a folder, because of ${obstacle.path}.`;
    throw sandboxErrors.file_exists({ message: why, remediation: 'Choose another path.' });
  }

  private async startPush(tx: Tx, who: Principal, sandboxId: string, path: string, blob: string): Promise<string> {
    const [{ id }] = (await this.operations.claim(tx, [
      { operation: FILE_PUSH, resourceType: 'sandbox', resourceName: sandboxId, requestedBy: who.actor },
    ])) as [Claimed];
    const [stream, input] = [`sandbox/${sandboxId}`, { sandboxId, path, blob }];
    await this.operations.start(tx, [
      { id, operation: FILE_PUSH, resourceId: sandboxId, stream, input, steps: FILE_PUSH.steps },
    ]);
    return id;
  }
}

/** Bytes that a file may have here. @throws workspace_full (507) if those that are known do not fit */
function roomFor(workspace: WorkspaceRow, replaced: FileRow | undefined, bytes: number): number {
  const room = Number(workspace.bytesLimit) - Number(workspace.bytesUsed) + Number(replaced?.sizeBytes ?? 0);
  if (bytes > room) throw sandboxErrors.workspace_full();
  return room;
}

/** A retry has to send its body again: only its digest tells whether it is the same request. */
async function fingerprintOf(upload: FileUpload): Promise<string> {
  const body = new MeteredBody(upload.source, { ...upload, room: Infinity });
  await body.drain();
  return upload.fingerprint(body.sha256);
}

function answerOf(
  sandboxId: string,
  path: string,
  row: FileAnswerRow,
  { sha256 }: Written,
  isReplaced: boolean,
): Reply {
  const location = `/api/v1/sandboxes/${sandboxId}/files?path=${encodeURIComponent(path)}`;
  return reply(isReplaced ? 200 : 201, rawJson(row.json), { etag: `"${sha256}"`, ...(isReplaced ? {} : { location }) });
}

/** A stream that fails without a rule of ours being broken is a client that went away. */
function bodyRefusal(failure: unknown): Error {
  if (failure instanceof SlipwayError) return failure;
  return errors.invalid_parameter({ message: 'The request ended before its body did.', cause: failure });
}

function storeRefusal(failure: unknown): unknown {
  if (!(failure instanceof StoreFull)) return failure;
  return sandboxErrors.workspace_full({
    message: 'The workspace store is full.',
    remediation: 'Ask the operator.',
    cause: failure,
  });
}
