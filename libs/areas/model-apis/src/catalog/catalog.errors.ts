import { defineErrors } from '@slipway/platform-http';

export const catalogErrors = defineErrors({
  catalog_entry_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such model API.',
    remediation: 'List model APIs with GET /api/v1/model-api-catalog.',
  },
});
