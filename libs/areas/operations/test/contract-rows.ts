import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  listOperations: {
    status: 200,
    tenancy: 'lists the operations of the caller',
    valid: async (bed) => (await bed.rollout(), {}),
  },
  getOperation: { status: 200, valid: async (bed) => ({ params: { id: (await bed.rollout()).id } }) },
  cancelOperation: {
    status: 200,
    audit: 'operation.cancel',
    valid: async (bed) => ({ params: { id: (await bed.rollout()).id }, body: {} }),
  },
  retryOperation: {
    status: 200,
    audit: 'operation.retry',
    valid: async (bed) => ({
      params: await bed.operation(`status = 'failed', error_code = 'internal', retryable = true, completed_at = now()`),
      body: {},
    }),
  },
  pauseOperation: {
    status: 200,
    audit: 'operation.pause',
    valid: async (bed) => ({ params: { id: (await bed.rollout({ strategy: { type: 'immediate' } })).id }, body: {} }),
  },
  promoteOperation: {
    status: 200,
    audit: 'operation.promote',
    valid: async (bed) => ({
      params: await bed.operation(`status = 'waiting', waiting_for = 'soak', current_step = 'soak:1'`),
      body: {},
    }),
  },
  resumeOperation: {
    status: 200,
    audit: 'operation.resume',
    valid: async (bed) => ({ params: await bed.operation(`status = 'waiting', awaiting = 'approval'`), body: {} }),
  },
  listOperationEvents: { status: 200, valid: async (bed) => ({ params: { id: (await bed.rollout()).id } }) },
};
