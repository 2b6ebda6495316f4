import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const PROGRESS = fileURLToPath(new URL('../../build-progress.mjs', import.meta.url));
const BUILD = fileURLToPath(new URL('../build.mjs', import.meta.url));

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'slipway-build-'));
  for (const folder of ['node_modules/typescript/bin', 'libs/one/src', 'libs/one/dist'])
    mkdirSync(path.join(root, folder), { recursive: true });
  writeFileSync(path.join(root, 'libs/one/src/a.ts'), 'a');
  writeFileSync(path.join(root, 'libs/one/dist/a.js'), 'a');
  compiler(
    "[10:00:00 AM] Projects in this build:\n    * libs/one\n\n[10:00:00 AM] Building project '/libs/one/tsconfig.lib.json'...\n",
    0,
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Replaces the compiler: prints this text, records that it ran, and creates deleted files again. */
function compiler(says: string, status: number): void {
  writeFileSync(
    path.join(root, 'node_modules/typescript/bin/tsc'),
    `const fs = require('node:fs');
     fs.appendFileSync('node_modules/runs', 'x');
     if (!fs.existsSync('libs/one/dist/a.js')) fs.writeFileSync('libs/one/dist/a.js', 'a');
     console.log(${JSON.stringify(says)}); process.exitCode = ${status};`,
  );
}
const build = (): { status: number | null; said: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BUILD, root], { encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
};
const runs = (): number =>
  existsSync(path.join(root, 'node_modules/runs')) ? readFileSync(path.join(root, 'node_modules/runs')).length : 0;

it('prints one line about what it built', () => {
  const { status, said } = build();
  expect(said).toMatch(/^Built 1 project in \d+\.\d s\.\n$/);
  expect(status).toBe(0);
});

it('names its prerequisite if the packages are not installed', () => {
  rmSync(path.join(root, 'node_modules/typescript'), { recursive: true });
  const { status, said } = build();
  expect(said).toMatch(/^The packages are not installed\. Run npm ci first\.\nThe build failed/);
  expect(status).toBe(1);
});

it('shows on a terminal that it advances, in one line, and in a log only if it takes long', async () => {
  const { Progress } = (await import(PROGRESS)) as {
    Progress: new (title: string, stream: object) => { set(note: string): void; tick(): void; end(): void };
  };
  const shownBy = (stream: object): string => {
    let text = '';
    const progress = new Progress('compiling x', { write: (more: string) => (text += more), ...stream });
    progress.set('42 %');
    progress.tick();
    progress.end();
    return text;
  };
  expect(shownBy({})).toBe('compiling x …\n');
  const line = '\r\u001b[K';
  expect(shownBy({ isTTY: true, columns: 80 })).toBe(`${line}compiling x …${line}compiling x: 42 %, 0 s so far${line}`);
  const { runStep } = (await import(PROGRESS)) as {
    runStep: (...step: unknown[]) => Promise<{ status: number; output: string }>;
  };
  const noted: string[] = [];
  const program = 'console.log("[ 7%] a"); console.error("b"); process.exitCode = 3';
  const ended = await runStep('', process.execPath, ['-e', program], { noteOf: (text: string) => noted.push(text) });
  expect([ended.status, ended.output.split('\n').filter(Boolean).sort()]).toEqual([3, ['[ 7%] a', 'b']]);
  expect(noted.join('')).toContain('7%');
  expect((await runStep('', 'no-such-program', [])).status).toBe(1);
});

it('prints all output of a failed compiler, exits with its status, and tries again the next time', () => {
  compiler(
    "[10:00:00 AM] Building project '/libs/one/tsconfig.lib.json'...\n\nsrc/a.ts(1,1): error TS1005: ; expected.\n",
    3,
  );
  for (let tries = 1; tries <= 2; tries += 1) {
    const { status, said } = build();
    expect(said).toMatch(
      /^src\/a\.ts\(1,1\): error TS1005: ; expected\.\nThe build failed after \d+\.\d s\. See the errors above\.\n$/,
    );
    expect(status).toBe(3);
    expect(runs()).toBe(tries);
  }
});

it('runs no compiler while no file changes; a changed source or a deleted output is a change', () => {
  build();
  expect(build().said).toMatch(/^Nothing to build: nothing changed \(\d+\.\d s\)\.\n$/);
  expect(runs()).toBe(1);
  appendFileSync(path.join(root, 'libs/one/src/a.ts'), 'b');
  build();
  expect(runs()).toBe(2);
  rmSync(path.join(root, 'libs/one/dist/a.js'));
  build();
  expect(runs()).toBe(3);
});

it('restores a deleted output, which the compiler alone would not do', () => {
  const notes = path.join(root, 'libs/one/dist/tsconfig.lib.tsbuildinfo');
  writeFileSync(notes, '{}');
  build();
  expect(existsSync(notes)).toBe(true);
  rmSync(path.join(root, 'libs/one/dist/a.js'));
  build();
  expect(existsSync(notes)).toBe(false);
});
