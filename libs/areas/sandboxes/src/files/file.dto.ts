import { ArrayField, BooleanField, IntField, StringField, TimestampField } from '@slipway/platform-http';
import type { FileEntity } from './file.entity.js';

const PATH = { description: 'Relative POSIX path of at most 1024 bytes, without . and ..', example: 'data/input.json' };
export const MODE = /^0?[0-7]{3}$/;
export const SHA256 = /^[0-9a-fA-F]{64}$/;

/** Options of both forms of an upload: fields of the body, or query parameters of a stream. */
export class FileOptionsDto {
  @StringField(PATH)
  path: string;

  @StringField({ pattern: MODE, default: '0644', description: 'Permission bits, octal.' })
  mode: string;

  @StringField({
    pattern: SHA256,
    optional: true,
    description: 'Expected SHA-256 of the file in hex; the request fails if it differs.',
  })
  sha256?: string;

  @BooleanField({ default: true, description: 'If false, the request fails if the file already exists.' })
  overwrite: boolean;
}

/** The same options next to a JSON body, which may have them itself. */
export class FileQueryDto {
  @StringField({ ...PATH, optional: true })
  path?: string;

  @StringField({ pattern: MODE, optional: true })
  mode?: string;

  @StringField({ pattern: SHA256, optional: true })
  sha256?: string;

  @BooleanField({ optional: true })
  overwrite?: boolean;
}

export class PutFileDto extends FileOptionsDto {
  @StringField({ description: 'Content of the file, up to 8 MiB.' })
  content: string;

  @StringField({ enum: ['utf-8', 'base64'], default: 'utf-8', description: 'Encoding of `content`.' })
  encoding: 'utf-8' | 'base64';
}

export class FileDto {
  @StringField(PATH)
  path: string;

  @IntField({ min: 0 })
  size_bytes: number;

  @StringField({ description: 'SHA-256 of the file in hex.' })
  sha256: string;

  @StringField({ example: '0644' })
  mode: string;

  @TimestampField()
  modified_at: string;

  @StringField({
    enum: ['none', 'pending', 'synced', 'failed'],
    description: 'Whether the external sandbox has the file; `none` without an external sandbox.',
  })
  sync: string;

  @StringField({ nullable: true, description: 'Reason why the transfer failed.' })
  sync_error: string | null;

  @StringField({ nullable: true, description: 'Operation that sends the file to the external sandbox.' })
  sync_operation_id: string | null;
}

export class DeletedFileDto {
  @StringField(PATH)
  path: string;

  @StringField({ enum: ['deleted'] })
  state: string;

  @BooleanField({ description: 'Always false: an external sandbox keeps the file if it has it.' })
  external_sandbox_changed: boolean;
}

export class FileListDto {
  @ArrayField(() => FileDto)
  data: FileDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export function fileAnswer(row: FileEntity): FileDto {
  const { path, size_bytes, sha256, mode, modified_at, sync, sync_error, sync_operation_id } = row;
  return { path, size_bytes, sha256, mode, modified_at, sync, sync_error, sync_operation_id };
}

export function fileEtag({ sha256 }: Pick<FileEntity, 'sha256'>): string {
  return `"${sha256}"`;
}
