import { defineErrors } from '@slipway/platform-http';

export const identityErrors = defineErrors({
  tenant_exists: {
    status: 409,
    category: 'conflict',
    message: 'A tenant with this name exists.',
    remediation: 'Choose another name.',
  },
  token_not_found: { status: 404, category: 'not_found', message: 'There is no such token.' },
});
