import { defineErrors } from '@slipway/platform-http';

export const passportErrors = defineErrors({
  context_passport_active: {
    status: 409,
    category: 'conflict',
    message: 'The passport is active.',
    remediation: 'Revoke it first with DELETE /api/v1/context-passports/{id}.',
  },
  context_passport_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such context passport.',
    remediation:
      'Use the id from the x-context-passport header of an inference response, or from POST /api/v1/context-passports.',
  },
});
