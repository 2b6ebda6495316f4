import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { eventually } from './waiting.js';

const GUARD = fileURLToPath(new URL('../guard.mjs', import.meta.url));

/** Starts a guard with a folder and two process groups, one of which it removes again. Prints the two process ids. */
const PARENT = `
  import { spawn } from 'node:child_process';
  const guard = spawn(process.execPath, [${JSON.stringify(GUARD)}], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const sleep = () => spawn('sleep', ['60'], { stdio: 'ignore', detached: true }).pid;
  const [ended, spared] = [sleep(), sleep()];
  guard.stdin.write('+' + ended + '\\n+' + spared + '\\n-' + spared + '\\nrm ' + process.argv[1] + '\\n', () => console.log(ended, spared));
  setInterval(() => undefined, 1_000);
`;

it('ends the processes and removes the folder of a killed process', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-guard-'));
  const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const [ended, spared] = String(line).trim().split(' ').map(Number) as [number, number];
  expect([isAlive(ended), isAlive(spared), existsSync(folder)]).toEqual([true, true, true]);
  parent.kill('SIGKILL');
  await eventually('the folder is gone', () => !existsSync(folder), 10_000);
  await eventually('the sleeper is gone', () => !isAlive(ended), 10_000);
  expect(isAlive(spared)).toBe(true);
  process.kill(spared, 'SIGKILL');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // If no parent collects the children of a killed process, they remain as zombies.
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'));
}
