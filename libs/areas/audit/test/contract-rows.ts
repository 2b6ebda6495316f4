import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  listAudit: { status: 200, tenancy: 'lists the audit rows of the caller', valid: async () => ({}) },
};
