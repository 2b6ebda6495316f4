import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  listTargets: { status: 200, tenancy: 'the operator defines the targets for all tenants', valid: async () => ({}) },
};
