import preset from '../../../jest.preset.mjs';

export default { ...preset, displayName: 'platform-auth', testTimeout: 30_000 };
