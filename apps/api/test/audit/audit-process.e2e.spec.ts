import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Stack, until } from '../harness/stack.js';

const COMMAND = fileURLToPath(new URL('../../dist/audit-verify.js', import.meta.url));

/** Three starts of the command on busy machines. */
const LONG_MS = 180_000;

let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start({ workers: 2 });
}, 120_000);

afterAll(async () => {
  await stack?.stop();
});

/** Runs the built command as an operator would. */
function verify(...args: string[]): Promise<{ status: number; out: string }> {
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: stack.testDatabase.url,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, ...args], { env, cwd: stack.home }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, out: stdout + stderr }),
    );
  });
}

it(
  'workers seal each row of the api once, and the command names the first row that was changed',
  async () => {
    const { tokens, audit } = stack.slipway();
    const made = Array.from({ length: 30 }, (_, index) => tokens.create({ name: `n-${index}`, scopes: ['viewer'] }));
    await Promise.all(made);
    let rows: any[] = [];
    await until('every row is sealed', async () => {
      rows = (await audit.list({ limit: 200 })).data;
      return rows.length === 30 && rows.every((row) => row.sequence !== null);
    });
    expect(rows.map((row) => row.sequence).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
    expect(await verify('--tenant', 'default')).toEqual({
      status: 0,
      out: expect.stringMatching(/^ok "default" rows=30 head=\w+:30:[0-9a-f]{64} unsealed=0\n$/),
    });
    const [changed] = await stack.query<{ id: string }>(
      `update audit_log set actor = 'token:tok_mallory' where sequence = 7 returning id`,
    );
    expect(await verify()).toEqual({
      status: 1,
      out: `broken "default" at row 7 (${changed!.id}): it was changed after it was sealed\n`,
    });
    expect(await verify('--tenant', 'nobody')).toEqual({ status: 2, out: 'tenant nobody does not exist\n' });
  },
  LONG_MS,
);
