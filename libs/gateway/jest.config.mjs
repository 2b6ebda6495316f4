import preset from '../../jest.preset.mjs';

// Real sockets and a real Postgres, on a machine that may be busy: tests measure inside what must be quick.
export default { ...preset, displayName: 'gateway', testTimeout: 120_000 };
