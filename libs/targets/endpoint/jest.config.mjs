import preset from '../../../jest.preset.mjs';

// No spec of this library needs a database, so none is started.
const { globalSetup: _setup, globalTeardown: _teardown, ...withoutDatabase } = preset;

export default { ...withoutDatabase, displayName: 'target-endpoint' };
