import preset from '../../jest.preset.mjs';

/** What needs a browser is tested in one, in `apps/api/test/console/*.e2e.spec.ts`; here is what is pure. */
export default { ...preset, displayName: 'console' };
