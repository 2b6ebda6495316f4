import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

it('dependency-cruiser refuses a cycle of types alone, with the settings of CI', () => {
  const run = spawnSync(
    'npx',
    ['--no-install', 'depcruise', '--exclude', 'node_modules', 'tools/lint/fixtures/import-cycle'],
    {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      encoding: 'utf8',
      env: { ...process.env, FORCE_COLOR: '0', NODE_OPTIONS: '' },
    },
  );
  expect(run.stdout).toMatch(/error no-cycles: .*customer\.ts/);
  expect(run.status).toBe(1);
});
