import type { Bed, Rows } from './row.js';

const sandbox = async (bed: Bed): Promise<{ id: string }> => ({ id: (await bed.make('POST', '/sandboxes')).id });
const reference = (bed: Bed) => ({
  provider: 'custom',
  base_url: 'https://sandboxes.example.com',
  external_id: bed.name('external'),
  credential: 'secret',
});

export const SANDBOX_ROWS: Rows = {
  createSandbox: { status: 201, valid: async () => ({ body: {} }), full: () => ({ workspace: { bytes_limit: 1000 } }) },
  listSandboxes: { status: 200, valid: async (bed) => (await sandbox(bed), {}) },
  getSandbox: { status: 200, valid: async (bed) => ({ params: await sandbox(bed) }) },
  createSandboxReference: { status: 201, valid: async (bed) => ({ body: reference(bed) }) },
  listSandboxReferences: { status: 200, valid: async () => ({}) },
  revokeSandboxReference: {
    status: 200,
    valid: async (bed) => ({ params: { id: (await bed.make('POST', '/sandboxes/references', reference(bed))).id } }),
  },
  putSandboxFile: {
    status: 201,
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
