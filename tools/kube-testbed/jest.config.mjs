import preset from '../../jest.preset.mjs';

// No spec here needs a database.
const { globalSetup: _setup, globalTeardown: _teardown, ...withoutDatabase } = preset;

export default { ...withoutDatabase, displayName: 'kube-testbed' };
