import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { openStackLog } from './stack-log.js';

const home = mkdtempSync(path.join(os.tmpdir(), 'slipway-log-'));
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('keeps the newest lines in five files of bounded size, which only their owner can read', () => {
  const log = openStackLog(home, 1_000);
  for (let n = 0; n < 500; n += 1) log.write(`line ${String(n).padStart(4, '0')}`);
  log.write('x'.repeat(1_000_000));
  const folder = path.dirname(log.file);
  const files = readdirSync(folder);
  expect(files.sort()).toEqual(['slipway.log', ...[1, 2, 3, 4].map((number) => `slipway.log.${number}`)]);
  for (const file of files) expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(folder, 'slipway.log.4')).size).toBeLessThan(1_100);
  expect(readFileSync(log.file, 'utf8').length).toBeLessThan(70_000);
  expect(files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('')).toContain('line 0499\n');
});

it('appends to the file of an earlier start', () => {
  openStackLog(home).write('first');
  const log = openStackLog(home);
  log.write('second');
  expect(readFileSync(log.file, 'utf8')).toBe('first\nsecond\n');
});
