import preset from '../../jest.preset.mjs';

/** Tests that need a browser are in `apps/api/test/console/*.e2e.spec.ts`; here are the tests of pure functions. */
export default { ...preset, displayName: 'console' };
