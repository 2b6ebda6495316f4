import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  getSystem: {
    status: 200,
    tenancy: 'tells everybody of the service, and what is behind it to the operator tenant alone',
    valid: async () => ({}),
  },
};
