import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const folder = mkdtempSync(path.join(tmpdir(), 'slipway-up-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('names the package that it needs, and never runs one of the current folder', async () => {
  const planted = path.join(folder, 'node_modules/@slipway/server');
  mkdirSync(planted, { recursive: true });
  writeFileSync(path.join(planted, 'package.json'), '{"name":"@slipway/server","main":"index.js"}');
  writeFileSync(path.join(planted, 'index.js'), `require('fs').writeFileSync('${folder}/ran', '')`);
  // The current folder of the command is this home.
  expect(await runCommand(['up'], { env: { HOME: folder } })).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^Error: slipway up needs the package @slipway\/server, .*\n {2}Run npm install --global @slipway\/cli @slipway\/server\. /,
    ),
  });
  expect(() => writeFileSync(path.join(folder, 'ran'), '', { flag: 'wx' })).not.toThrow();
});

it('is completed, and its help says where the data is', async () => {
  expect((await runCommand(['__complete', 'u'])).stdout).toBe('up\n');
  const { code, stdout } = await runCommand(['up', '--help']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('~/.slipway')]);
});
