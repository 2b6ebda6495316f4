import { owned, type Bed, type Rows } from '@slipway/platform-testing/contract';

/**
 * Creates an instance that was never started. No worker runs in these suites, and only a worker could read the output
 * of an instance.
 */
async function instance(bed: Bed): Promise<{ name: string; id: string }> {
  const deployment = await bed.active();
  await bed.instance(deployment);
  await owned(bed.api, `update instances set state = 'pending', base_url = null where id = $1`, [
    deployment.revisionId,
  ]);
  return { name: deployment.name, id: deployment.revisionId };
}

export const ROWS: Rows = {
  listTargets: { status: 200, tenancy: 'the operator defines the targets for all tenants', valid: async () => ({}) },
  listInstances: { status: 200, valid: async (bed) => ({ params: { name: (await instance(bed)).name } }) },
  getInstanceLogs: { status: 200, valid: async (bed) => ({ params: await instance(bed) }) },
};
