import preset from '../../../jest.preset.mjs';

// No spec here needs a database, so Jest starts none.
const { globalSetup: _setup, globalTeardown: _teardown, ...withoutDatabase } = preset;

export default { ...withoutDatabase, displayName: 'target-process' };
