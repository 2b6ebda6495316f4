import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Stack, until } from '../harness/stack.js';

const COMMAND = fileURLToPath(new URL('../../dist/audit-verify.js', import.meta.url));
const KEY = Buffer.alloc(32, 9).toString('base64');

/** Eight starts of processes on busy machines. */
const LONG_MS = 240_000;

let stack: Stack;
let file: string;

beforeAll(async () => {
  stack = await Stack.start();
  file = path.join(stack.home, 'heads.jsonl');
  await stack.kill('worker');
}, 120_000);

afterAll(async () => {
  await stack?.stop();
});

function verify(args: string[] = [], key = KEY): Promise<{ status: number; out: string }> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: stack.testDatabase.url, SLIPWAY_SECRET_KEY: key };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, ...args], { env, cwd: stack.home }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, out: stdout + stderr }),
    );
  });
}

function kept(): string[] {
  try {
    return [...readFileSync(file, 'utf8').matchAll(/"audit_anchor":"([^"]+)"/g)].map(([, head]) => head as string);
  } catch {
    return [];
  }
}

/** Makes this many audit rows, and waits until their last head is kept and recorded as kept. */
async function grow(rows: number): Promise<string> {
  for (let i = 0; i < rows; i += 1) await stack.slipway().tokens.create({ name: randomUUID(), scopes: ['viewer'] });
  const [{ total }] = (await stack.query(`select count(*)::int as total from audit_log`)) as [{ total: number }];
  let hurried = '';
  await until('the last head is kept', async () => {
    const [, sequence, hash] = kept().at(-1)?.split(':') ?? [];
    const [noted] = await stack.query(`select 1 from audit_anchors where hash = $1`, [hash]);
    if (noted && sequence === String(total)) return true;
    // Skips the minute until the next head, once for each head that is kept: a later update would hit a claim.
    if (noted && hash !== hurried) await stack.query(`update audit_anchors set due_at = now()`);
    if (noted) hurried = hash as string;
    return false;
  });
  return kept().at(-1) as string;
}

function workers(): void {
  for (const index of [0, 1]) stack.spawn('worker', index, { SLIPWAY_AUDIT_ANCHOR: `file:${file}` });
}

it(
  "heads that two workers keep survive their kill -9, and reveal an administrator's changes to the chain",
  async () => {
    workers();
    const first = await grow(3);
    for (const index of [0, 1]) await stack.kill('worker', index);
    workers();
    const second = await grow(3);
    const all = kept();
    expect(all).toEqual(expect.arrayContaining([first, second]));
    expect(new Set(all).size).toBe(all.length);
    for (const index of [0, 1]) await stack.kill('worker', index);

    expect(await verify(['--anchors', file, '--expect-head', first])).toMatchObject({ status: 0 });
    expect(await verify([], Buffer.alloc(32, 8).toString('base64'))).toMatchObject({
      status: 1,
      out: expect.stringContaining('SLIPWAY_SECRET_KEY is wrong'),
    });

    await stack.query(`delete from audit_log where sequence > 4`);
    await stack.query(
      `update audit_heads set (sequence, hash) = (select sequence, hash from audit_log where sequence = 4)`,
    );
    expect(await verify()).toMatchObject({ status: 0 });
    expect(await verify(['--anchors', file])).toMatchObject({
      status: 1,
      out: expect.stringContaining('at row 5: the chain ends at row 4'),
    });
  },
  LONG_MS,
);
