import { type Bed, type Rows } from '@slipway/platform-testing/contract';

const sandbox = async (bed: Bed): Promise<{ id: string }> => ({ id: (await bed.make('POST', '/sandboxes')).id });
const reference = (bed: Bed) => ({
  provider: 'custom',
  base_url: 'https://sandboxes.example.com',
  external_id: bed.name('external'),
  credential: 'secret',
});

export const ROWS: Rows = {
  createSandbox: {
    status: 201,
    audit: 'sandbox.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async () => ({ body: {} }),
    full: () => ({ workspace: { bytes_limit: 1000 } }),
    // The operator sets the highest value.
    related: ['workspace.bytes_limit'],
  },
  listSandboxes: {
    status: 200,
    tenancy: 'lists the sandboxes of the caller',
    valid: async (bed) => (await sandbox(bed), {}),
  },
  getSandbox: { status: 200, valid: async (bed) => ({ params: await sandbox(bed) }) },
  updateSandbox: {
    status: 200,
    audit: 'sandbox.update',
    valid: async (bed) => ({ params: await sandbox(bed), body: { labels: { of: bed.name('sandbox') } } }),
    full: (body) => ({ ...body, workspace: { bytes_limit: 1000 } }),
    // A patch may name twice as many labels as a sandbox may have: half of them to remove. The operator sets the
    // highest number of bytes.
    related: ['labels', 'workspace.bytes_limit'],
  },
  deleteSandbox: { status: 200, audit: 'sandbox.delete', valid: async (bed) => ({ params: await sandbox(bed) }) },
  deleteSandboxFile: {
    status: 200,
    audit: 'sandbox_file.delete',
    example: { status: 400, why: 'no example fills in a parameter of the query' },
    valid: async (bed) => {
      const { id } = await sandbox(bed);
      await bed.make('PUT', `/sandboxes/${id}/files`, { path: 'a.txt', content: 'text' });
      return { params: { id }, query: { path: 'a.txt' } };
    },
  },
  deleteSandboxReference: {
    status: 200,
    audit: 'sandbox_reference.delete',
    valid: async (bed) => {
      const { id, sandbox_id } = await bed.make('POST', '/sandboxes/references', reference(bed));
      for (const path of [`references/${id}`, sandbox_id]) await bed.api.send('DELETE', `/api/v1/sandboxes/${path}`);
      return { params: { id } };
    },
  },
  createSandboxReference: {
    status: 201,
    audit: 'sandbox_reference.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async (bed) => ({ body: reference(bed) }),
  },
  listSandboxReferences: { status: 200, tenancy: 'lists the references of the caller', valid: async () => ({}) },
  revokeSandboxReference: {
    status: 200,
    audit: 'sandbox_reference.revoke',
    valid: async (bed) => ({ params: { id: (await bed.make('POST', '/sandboxes/references', reference(bed))).id } }),
  },
  putSandboxFile: {
    status: 201,
    audit: 'sandbox_file.put',
    valid: async (bed) => ({ params: await sandbox(bed), body: { path: 'a.txt', content: 'text' } }),
  },
  listSandboxFiles: {
    status: 200,
    valid: async (bed) => {
      const { id } = await sandbox(bed);
      await bed.make('PUT', `/sandboxes/${id}/files`, { path: 'a.txt', content: 'text' });
      return { params: { id } };
    },
  },
};
