import { defineErrors } from '@slipway/platform-http';

export const passportErrors = defineErrors({
  context_passport_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such context passport.',
    remediation:
      'Take the id from the x-context-passport header of an inference answer, or from POST /api/v1/context-passports.',
  },
});
