import { type Bed, type Rows } from '@slipway/platform-testing/contract';

const CHANGE = { op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 };

async function plan(bed: Bed): Promise<{ id: string; content_digest: string }> {
  const body = { deployment: (await bed.active()).name, changes: [CHANGE] };
  return bed.make('POST', '/autopilot/plans', body, await bed.person('alice'));
}

export const ROWS: Rows = {
  listAutopilotPlans: {
    status: 200,
    tenancy: 'lists the plans of the caller',
    valid: async (bed) => (await plan(bed), {}),
  },
  getAutopilotPlan: { status: 200, valid: async (bed) => ({ params: { id: (await plan(bed)).id } }) },
  approveAutopilotPlan: {
    status: 200,
    audit: 'plan.approve',
    valid: async (bed) => {
      const { id, content_digest } = await plan(bed);
      return { params: { id }, body: { plan_digest: content_digest }, token: await bed.person('bob') };
    },
  },
  rejectAutopilotPlan: {
    status: 200,
    audit: 'plan.reject',
    valid: async (bed) => ({ params: { id: (await plan(bed)).id }, body: {} }),
  },
};
