import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { isUnchanged, reply, type PageRequest, type Principal, type RawJson, type Reply } from '@slipway/platform-http';
import { contentDigestOf } from './content-digest.js';
import { assertFilePath } from './file-path.js';
import { FIND_FILE, LIST_FILES, type FileAnswerRow, type FileRow } from './file.query.js';
import { sandboxErrors } from './sandbox.errors.js';
import { FIND_WORKSPACE } from './sandbox.query.js';
import { listOf } from './sandboxes.service.js';
import { BLOB_STORE, BlobMissing, type BlobStore } from './storage/blob-store.js';

/** A file that is replaced faster than it can be opened, so many times in a row, is not worth more patience. */
const OPEN_TRIES = 5;

@Injectable()
export class FilesService {
  constructor(
    private readonly database: Database,
    @Inject(BLOB_STORE) private readonly store: BlobStore,
  ) {}

  async list(who: Principal, sandboxId: string, page: PageRequest): Promise<RawJson> {
    const rows = await this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      await assertAlive(tx, who.tenantId, sandboxId);
      return tx.query<FileAnswerRow>(LIST_FILES, [sandboxId, who.tenantId, page.cursor?.[0] ?? null, page.limit + 1]);
    });
    return listOf(rows, page.limit, (row) => row.path);
  }

  async download(
    who: Principal,
    sandboxId: string,
    path: string,
    ifNoneMatch: string | undefined,
  ): Promise<Reply<Readable | undefined>> {
    assertFilePath(path);
    // Between the row and its blob the file may be replaced and the blob removed; then the row names another one.
    for (let tries = 1; ; tries += 1) {
      const file = await this.find(who.tenantId, sandboxId, path);
      const etag = `"${file.sha256}"`;
      if (isUnchanged(ifNoneMatch, etag)) return reply(304, undefined, { etag });
      try {
        return reply(200, await this.store.read(file.blob), headersOf(file, path, etag));
      } catch (failure) {
        if (!(failure instanceof BlobMissing) || tries === OPEN_TRIES) throw failure;
      }
    }
  }

  private find(tenantId: string, sandboxId: string, path: string): Promise<FileRow> {
    return this.database.tx({ tenantId }, async (tx) => {
      await assertAlive(tx, tenantId, sandboxId);
      const file = await tx.one<FileRow>(FIND_FILE, [sandboxId, path, tenantId]);
      if (!file) throw sandboxErrors.sandbox_file_not_found();
      return file;
    });
  }
}

async function assertAlive(tx: Tx, tenantId: string, sandboxId: string): Promise<void> {
  if (!(await tx.one(FIND_WORKSPACE, [sandboxId, tenantId]))) throw sandboxErrors.sandbox_not_found();
}

/** Whatever a tenant has uploaded, a browser is told to save it, never to show it. */
function headersOf(file: FileRow, path: string, etag: string): Record<string, string> {
  const name = encodeURIComponent(path.split('/').pop()!).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'content-type': 'application/octet-stream',
    'content-length': file.sizeBytes,
    'content-digest': contentDigestOf(file.sha256),
    'content-disposition': `attachment; filename*=UTF-8''${name}`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'last-modified': file.modifiedAt.toUTCString(),
    etag,
  };
}
