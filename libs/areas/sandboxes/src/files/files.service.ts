import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { Database, findPage } from '@slipway/platform-database';
import {
  assertPreconditions,
  errors,
  isUnchanged,
  pageOf,
  reply,
  type PageOf,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { MoreThan } from 'typeorm';
import { contentDigestOf } from './content-digest.js';
import { assertFilePath } from './file-path.js';
import { fileAnswer, fileEtag, type DeletedFileDto, type FileDto } from './file.dto.js';
import { FileEntity } from './file.entity.js';
import { sandboxErrors, storeUnavailable } from '../sandbox.errors.js';
import { SandboxEntity } from '../sandbox.entity.js';
import { findSandbox, lockSandbox } from '../sandbox.query.js';
import { BLOB_STORE, BlobMissingError, StoreStalledError, type BlobStore } from '../storage/blob-store.js';
import { StrayBlobs } from '../storage/stray-blobs.js';

/** The service gives up on a file that was replaced this many times in a row before it could be opened. */
const OPEN_TRIES = 5;

@Injectable()
export class FilesService {
  constructor(
    private readonly database: Database,
    @Inject(BLOB_STORE) private readonly store: BlobStore,
    private readonly mutations: Mutations,
    private readonly strays: StrayBlobs,
  ) {}

  async list(who: Principal, sandboxId: string, page: PageRequest): Promise<PageOf<FileDto>> {
    const { tenantId } = who;
    const after = page.cursor?.[0] as string | undefined;
    const { rows, hasMore } = await this.database.tx({ tenantId }, async (tx) => {
      await findSandbox(tx, tenantId, sandboxId);
      return findPage(tx, FileEntity, {
        where: { sandbox_id: sandboxId, tenant_id: tenantId, ...(after !== undefined && { path: MoreThan(after) }) },
        order: { path: 'ASC' },
        key: 'path',
        limit: page.limit,
      });
    });
    return pageOf({ rows: rows.map(fileAnswer), hasMore }, (row) => [row.path]);
  }

  async download(
    who: Principal,
    sandboxId: string,
    path: string,
    ifNoneMatch: string | undefined,
  ): Promise<Reply<Readable | undefined>> {
    assertFilePath(path);
    // Between reading the row and opening its blob, the file may be replaced and the blob removed. Then the row names
    // another blob.
    for (let tries = 1; ; tries += 1) {
      const file = await this.find(who.tenantId, sandboxId, path);
      const etag = fileEtag(file);
      if (isUnchanged(ifNoneMatch, etag)) return reply(304, undefined, { etag });
      try {
        return reply(200, await this.store.read(file.blob), headersOf(file, path, etag));
      } catch (failure) {
        if (failure instanceof StoreStalledError) throw storeUnavailable(failure);
        if (!(failure instanceof BlobMissingError) || tries === OPEN_TRIES) throw failure;
      }
    }
  }

  /** Under the lock of the workspace, so that its sums stay those of its files. The blob is removed after the commit. */
  async delete(
    who: Principal,
    sandboxId: string,
    path: string | undefined,
    conditions: Preconditions,
  ): Promise<DeletedFileDto> {
    if (path === undefined) throw pathMissing();
    assertFilePath(path);
    const { tenantId } = who;
    const gone = await this.mutations.run({ principal: who }, async (tx) => {
      const { bytes_used, file_count } = await lockSandbox(tx, tenantId, sandboxId);
      const key = { sandbox_id: sandboxId, path, tenant_id: tenantId };
      const file = await tx.repository(FileEntity).findOneBy(key);
      if (!file) throw sandboxErrors.sandbox_file_not_found();
      assertPreconditions(conditions, fileEtag(file));
      await tx.repository(FileEntity).delete(key);
      const sums = { bytes_used: bytes_used - file.size_bytes, file_count: file_count - 1 };
      await tx.repository(SandboxEntity).update({ id: sandboxId, tenant_id: tenantId }, sums);
      await this.strays.add(tx, tenantId, sandboxId, file.blob);
      await appendAudit(tx, {
        action: 'sandbox_file.delete',
        resourceType: 'sandbox',
        resourceName: sandboxId,
        before: fileAnswer(file),
      });
      return file;
    });
    await this.strays.discard(tenantId, gone.blob);
    return { path, state: 'deleted', external_sandbox_changed: false };
  }

  private find(tenantId: string, sandboxId: string, path: string): Promise<FileEntity> {
    return this.database.tx({ tenantId }, async (tx) => {
      await findSandbox(tx, tenantId, sandboxId);
      const file = await tx.repository(FileEntity).findOneBy({ sandbox_id: sandboxId, path, tenant_id: tenantId });
      if (!file) throw sandboxErrors.sandbox_file_not_found();
      return file;
    });
  }
}

function pathMissing(): Error {
  const message = 'path is required: it names the file to delete';
  return errors.invalid_parameter({ message, details: [{ field: 'path', code: 'required', message }] });
}

/** A browser must save whatever a tenant has uploaded, and never show it. */
function headersOf(file: FileEntity, path: string, etag: string): Record<string, string> {
  const name = encodeURIComponent(path.split('/').pop()!).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'content-type': 'application/octet-stream',
    'content-length': String(file.size_bytes),
    'content-digest': contentDigestOf(file.sha256),
    'content-disposition': `attachment; filename*=UTF-8''${name}`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'last-modified': new Date(file.modified_at).toUTCString(),
    etag,
  };
}
