import type { FileDto } from './file.dto.js';
import type { FileEntity } from './file.entity.js';

export function fileAnswer(row: FileEntity): FileDto {
  const { path, size_bytes, sha256, mode, modified_at, sync, sync_error, sync_operation_id } = row;
  return { path, size_bytes, sha256, mode, modified_at, sync, sync_error, sync_operation_id };
}
