import { defineErrors, errors, type SlipwayError } from '@slipway/platform-http';
import type { StoreStalledError } from './storage/blob-store.js';

export const sandboxErrors = defineErrors({
  sandbox_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such sandbox.',
    remediation: 'List sandboxes with GET /api/v1/sandboxes.',
  },
  sandbox_reference_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such sandbox reference.',
    remediation: 'List references with GET /api/v1/sandboxes/references.',
  },
  sandbox_file_not_found: {
    status: 404,
    category: 'not_found',
    message: 'This sandbox has no file at this path.',
    remediation: 'List the files with GET /api/v1/sandboxes/{id}/files.',
  },
  file_exists: {
    status: 409,
    category: 'conflict',
    message: 'A file already exists at this path.',
    remediation: 'Choose another path, or set overwrite to true.',
  },
  sandbox_reference_active: {
    status: 409,
    category: 'conflict',
    message: 'The reference is active.',
    remediation: 'Revoke it first with DELETE /api/v1/sandboxes/references/{id}.',
  },
  sandbox_reference_in_use: {
    status: 409,
    category: 'conflict',
    message: 'Sandboxes have this reference.',
    remediation: 'Delete the sandboxes in `used_by` first.',
  },
  sandbox_reference_revoked: {
    status: 410,
    category: 'not_found',
    message: 'Access to this external sandbox was revoked.',
    remediation: 'Register the external sandbox again.',
  },
  file_too_large: {
    status: 413,
    category: 'limit',
    message: 'The file is larger than max_bytes.',
    remediation: 'Send a smaller file, or a large one as application/octet-stream.',
  },
  digest_mismatch: {
    status: 422,
    category: 'invalid_request',
    message: 'The received content does not match the digest that was sent with it.',
    remediation: 'Send the file again.',
  },
  workspace_full: {
    status: 507,
    category: 'capacity',
    message: 'The file does not fit into the workspace.',
    remediation: 'Delete files, raise workspace.bytes_limit, or use another sandbox.',
  },
});

/** unavailable (503) */
export function storeUnavailable(cause: StoreStalledError): SlipwayError {
  return errors.unavailable({
    message: 'The workspace store does not respond.',
    headers: { 'retry-after': '5' },
    cause,
  });
}
