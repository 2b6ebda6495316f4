import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  listRevisions: { status: 200, valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment } }) },
  getRevision: {
    status: 200,
    valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment, revision: '1' } }),
  },
  diffRevisions: {
    status: 200,
    valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment, a: '1', b: '1' } }),
  },
};
