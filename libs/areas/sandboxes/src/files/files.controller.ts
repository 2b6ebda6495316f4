import { applyDecorators, Body, Controller, Inject, Param, Query } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { CONFIG, type Config } from '@slipway/platform-config';
import {
  Conditions,
  CurrentPrincipal,
  Idempotency,
  IfNoneMatch,
  Page,
  Route,
  type IdempotencyClaim,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { Client, type FeedClient } from '@slipway/platform-durable/events';
import { DeletedFileDto, FileDto, FileListDto, FileOptionsDto, MODE, PutFileDto, SHA256 } from './file.dto.js';
import { JSON_BODY_BYTES, readFileUpload } from './file-request.js';
import { FilesService } from './files.service.js';
import { PUT_FILE } from './content-digest.js';
import { SandboxesService } from '../sandboxes.service.js';
import { UploadsService } from './uploads.service.js';

/**
 * The options of an upload. They are read by hand, because a path that breaks its rules is a different error
 * from a field that does.
 */
const UploadOptions = applyDecorators(
  ApiBody({ type: PutFileDto, required: false }),
  ApiQuery({
    name: 'path',
    required: false,
    description: 'Path of the file. With application/json it may be in the body.',
    schema: { type: 'string', maxLength: 1024 },
  }),
  ApiQuery({
    name: 'mode',
    required: false,
    description: 'Permission bits, octal.',
    schema: { type: 'string', pattern: MODE.source, default: '0644' },
  }),
  ApiQuery({
    name: 'sha256',
    required: false,
    description: 'SHA-256 of the file, hex.',
    schema: { type: 'string', pattern: SHA256.source },
  }),
  ApiQuery({
    name: 'overwrite',
    required: false,
    description: 'Whether an existing file may be replaced.',
    schema: { type: 'boolean', default: true },
  }),
);

const ListOrDownload = applyDecorators(
  ApiExtraModels(FileListDto),
  ApiQuery({
    name: 'path',
    required: false,
    description: 'Download this file instead of listing all files.',
    schema: { type: 'string', maxLength: 1024 },
  }),
  ApiResponse({
    status: 200,
    description: 'The list of files, or with `path` the content of the file.',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(FileListDto) } },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
    },
  }),
);

const FileToDelete = ApiQuery({
  name: 'path',
  required: true,
  description: 'Path of the file.',
  schema: { type: 'string', maxLength: 1024 },
});

@Controller()
export class FilesController {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'upload'>,
    private readonly files: FilesService,
    private readonly uploads: UploadsService,
  ) {}

  @UploadOptions
  @Route({
    method: 'PUT',
    path: '/sandboxes/:id/files',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: PUT_FILE,
    summary: 'Upload a file',
    description:
      'Accepts a JSON object with the content of the file, up to 8 MiB, or the raw bytes with `?path=`, up to the limit of the service. Options of the query hold for both; an option in query and body must have one value. Verifies `Content-Digest` (RFC 9530: sha-256, sha-512). Replaces a file completely or not at all.',
    example: { path: 'notes/hello.txt', content: 'hello' },
    ok: { 201: FileDto, 200: FileDto },
    errors: [
      'sandbox_not_found',
      'idempotency_in_progress',
      'file_exists',
      'sandbox_reference_revoked',
      'file_too_large',
      'digest_mismatch',
      'quota_exceeded',
      'workspace_full',
    ],
    idempotent: true,
    conditional: true,
    query: FileOptionsDto,
    streamBody: true,
    maxBodyBytes: JSON_BODY_BYTES,
    notFoundFirst: SandboxesService,
  })
  async put(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() body: object,
    @Idempotency() idempotency: IdempotencyClaim | undefined,
    @Conditions() conditions: Preconditions,
    @Client() client: FeedClient,
  ): Promise<Reply> {
    const upload = readFileUpload(client.request, body, idempotency, this.config.upload.maxBytes);
    return this.uploads.put(who, id, { ...upload, conditions });
  }

  @ListOrDownload
  @Route({
    method: 'GET',
    path: '/sandboxes/:id/files',
    scope: 'viewer',
    tag: 'Sandboxes',
    operationId: 'listSandboxFiles',
    summary: 'List or download sandbox files',
    description:
      'Without `path`, returns the files ordered by path. With `path`, returns the content of that file, or 304 if `If-None-Match` matches.',
    ok: { 200: FileListDto, 304: null },
    also: ['application/octet-stream'],
    errors: ['sandbox_not_found', 'sandbox_file_not_found'],
    paged: true,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Query('path') path: string | undefined,
    @IfNoneMatch() ifNoneMatch: string | undefined,
    @Page('string') page: PageRequest,
  ) {
    return path === undefined ? this.files.list(who, id, page) : this.files.download(who, id, path, ifNoneMatch);
  }

  @FileToDelete
  @Route({
    method: 'DELETE',
    path: '/sandboxes/:id/files',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'deleteSandboxFile',
    summary: 'Delete a file',
    description:
      'Deletes the file at `path` from the workspace, and frees its bytes. Sends nothing to an external sandbox, which keeps the file if it has it. `If-Match` takes the ETag of an upload or a download.',
    ok: { 200: DeletedFileDto },
    errors: ['sandbox_not_found', 'sandbox_file_not_found'],
    conditional: true,
  })
  delete(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Query('path') path: string | undefined,
    @Conditions() conditions: Preconditions,
  ) {
    return this.files.delete(who, id, path, conditions);
  }
}
