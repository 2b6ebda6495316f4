import { type Bed, type Rows } from '@slipway/platform-testing/contract';

async function passport(bed: Bed): Promise<{ id: string }> {
  return {
    id: (
      await bed.make('POST', '/context-passports', {
        deployment: await bed.deployment(),
        session_id: bed.name('session'),
      })
    ).id,
  };
}

export const ROWS: Rows = {
  createContextPassport: {
    status: 201,
    audit: 'context_passport.create',
    tenancy:
      'creates in the tenant of the caller; a foreign deployment is 404, which context-passports.e2e.spec.ts shows',
    valid: async (bed) => ({ body: { deployment: await bed.deployment(), session_id: bed.name('session') } }),
    full: (body) => ({ ...body, affinity: {} }),
  },
  listContextPassports: {
    status: 200,
    tenancy: 'lists the passports of the caller',
    valid: async (bed) => (await passport(bed), {}),
  },
  deleteContextPassport: {
    status: 200,
    audit: 'context_passport.delete',
    valid: async (bed) => {
      const params = await passport(bed);
      await bed.api.send('DELETE', `/api/v1/context-passports/${params.id}`);
      return { params };
    },
  },
  getContextPassport: { status: 200, valid: async (bed) => ({ params: await passport(bed) }) },
  revokeContextPassport: {
    status: 200,
    audit: 'context_passport.revoke',
    valid: async (bed) => ({ params: await passport(bed) }),
  },
};
