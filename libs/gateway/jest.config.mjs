import preset from '../../jest.preset.mjs';

// Real sockets and a real Postgres on a machine that may be busy: what must be quick is measured inside the tests.
export default { ...preset, displayName: 'gateway', testTimeout: 120_000 };
