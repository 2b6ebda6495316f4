import preset from '../../jest.preset.mjs';

// Tests here boot a whole api, which takes seconds where the machine is busy.
export default { ...preset, displayName: 'api', testTimeout: 60_000 };
