import type { View } from '../table.js';

export const OPERATION: View = {
  name: 'id',
  columns: [
    { title: 'ID', of: 'id' },
    { title: 'KIND', of: 'kind' },
    { title: 'RESOURCE', of: 'resource_name' },
    { title: 'STATUS', of: 'status' },
    { title: 'STEP', of: 'current_step' },
    { title: 'PROGRESS', of: ({ progress }) => `${progress}%` },
    { title: 'MESSAGE', of: 'message', isText: true },
    { title: 'ERROR', of: 'error_code', isWide: true },
    { title: 'CREATED', of: 'created_at', isWide: true },
    { title: 'COMPLETED', of: 'completed_at', isWide: true },
  ],
};

export const REHEARSAL: View = {
  name: 'would',
  columns: [
    { title: 'VALID', of: 'valid' },
    { title: 'WOULD', of: 'would' },
    { title: 'STEPS', of: 'steps' },
    { title: 'DIFF', of: 'diff' },
  ],
};

export const DEPLOYMENT: View = {
  name: 'name',
  columns: [
    { title: 'NAME', of: 'name' },
    { title: 'STATE', of: 'state' },
    { title: 'ACTIVE', of: 'active_revision' },
    { title: 'CANDIDATE', of: 'candidate_revision' },
    { title: 'REPLICAS', of: ({ replicas }) => `${replicas?.ready ?? 0}/${replicas?.desired ?? 0}` },
    { title: 'ENVIRONMENT', of: 'environment' },
    { title: 'OPERATION', of: 'current_operation_id', isWide: true },
    { title: 'PREVIOUS', of: 'previous_revision', isWide: true },
    { title: 'LABELS', of: 'labels', isWide: true },
    { title: 'DESCRIPTION', of: 'description', isWide: true },
    { title: 'CREATED', of: 'created_at', isWide: true },
    { title: 'ETAG', of: 'etag', isWide: true },
  ],
};
