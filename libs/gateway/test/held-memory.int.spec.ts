import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it, jest } from '@jest/globals';

jest.setTimeout(120_000);

const SCRIPT = fileURLToPath(new URL('./held-memory.mjs', import.meta.url));
const MOST_MORE = 32 * 1024;

let measured: Record<string, { bytes: number; held: number }>;
beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  measured = JSON.parse(stdout) as typeof measured;
});

it('takes at most 32 KiB more for a stream whose line or event does not end than for one of whole events', () => {
  const { ended, kept: _kept, short: _short, ...unended } = measured;
  const more = Object.entries(unended).map(([name, { bytes }]) => [name, bytes - ended!.bytes] as const);
  expect(more).toHaveLength(7);
  expect(more.filter(([, bytes]) => bytes > MOST_MORE)).toEqual([]);
});

it('counts the bytes that a stream holds to a tenth', () => {
  const { short, kept } = measured;
  const truth = kept!.bytes - short!.bytes;
  const counted = kept!.held - short!.held;
  expect(truth).toBeGreaterThan(7_000);
  expect(counted / truth).toBeGreaterThan(0.9);
  expect(counted / truth).toBeLessThan(1.1);
});
