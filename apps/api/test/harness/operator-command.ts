import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Stack } from './stack.js';

const dist = (name: string): string => fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url));

/** Runs a built command as an operator would. */
export function command(
  stack: Pick<Stack, 'testDatabase' | 'home'>,
  name: string,
  ...args: string[]
): Promise<{ status: number; out: string }> {
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: stack.testDatabase.url,
    SLIPWAY_MIGRATE_DATABASE_URL: stack.testDatabase.ownerUrl,
    SLIPWAY_HOME: stack.home,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
  };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [dist(name), ...args],
      { env, cwd: stack.home },
      (_error, stdout, stderr) => resolve({ status: child.exitCode ?? -1, out: stdout + stderr }),
    );
  });
}
