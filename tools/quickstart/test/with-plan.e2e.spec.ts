import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { freePort } from '@slipway/platform-database/testing';

/** More than the page promises, so that a slow run fails with its output. */
const LIMIT_MS = 20 * 60_000;
const PROMISED_SECONDS = 600;

jest.setTimeout(LIMIT_MS + 60_000);

const root = fileURLToPath(new URL('../../../', import.meta.url));
const NONE = [
  'SLIPWAY_CONFIG',
  'SLIPWAY_URL',
  'SLIPWAY_TOKEN',
  'SLIPWAY_BOOTSTRAP_TOKEN',
  'SLIPWAY_HOME',
  'DATABASE_URL',
  'REDIS_URL',
  'NODE_ENV',
  'NODE_OPTIONS',
  'XDG_CONFIG_HOME',
  'npm_lifecycle_event',
];

let folder: string;
let env: NodeJS.ProcessEnv;
let quickstart: ChildProcess;
let output = '';
/** When each part began, in seconds, for the person who reads why a run was slow. */
const phases: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-plan-'));
  chmodSync(folder, 0o755);
  env = childEnvironment({
    ...Object.fromEntries(NONE.map((name) => [name, undefined])),
    HOME: folder,
    PATH: `${path.join(root, 'node_modules/.bin')}:${path.dirname(process.execPath)}:${childEnvironment()['PATH']}`,
    SLIPWAY_API_PORT: String(await freePort()),
    SLIPWAY_GATEWAY_PORT: String(await freePort()),
  });
});
afterAll(async () => {
  process.stdout.write(`${phases.join('\n')}\n`);
  if (quickstart.exitCode === null && quickstart.signalCode === null) {
    const ended = once(quickstart, 'exit');
    quickstart.kill('SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Types a printed command into a shell in the folder of the stack, without a login. */
async function type(command: string): Promise<void> {
  const child = spawn('bash', ['--norc', '-c', command.replace(/^npx /, '')], { cwd: folder, env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  expect([command, code, code === 0 ? '' : said]).toEqual([command, 0, '']);
}

/** Waits for a line of the demonstration. */
async function line(pattern: RegExp): Promise<string> {
  for (;;) {
    const found = pattern.exec(output);
    if (found) return found[1] as string;
    if (quickstart.exitCode !== null) throw new Error(`it ended without ${pattern}:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function start(...args: string[]): Promise<[number | null]> {
  const startedAt = performance.now();
  output = '';
  quickstart = spawn(process.execPath, [path.join(root, 'tools/quickstart/dist/quickstart.js'), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [quickstart.stdout, quickstart.stderr])
    stream?.on('data', (chunk) => {
      output += String(chunk);
      for (const [part] of String(chunk).matchAll(/^\d+\. .*$/gm))
        phases.push(`${Math.round((performance.now() - startedAt) / 1_000)} s: ${part}`);
    });
  return once(quickstart, 'exit') as Promise<[number | null]>;
}

it('ends with the achieved value next to the predicted interval, in at most ten minutes', async () => {
  const startedAt = performance.now();
  const ended = start('--with-plan', '--once');
  await type(await line(/^ {4}(npx slipway plans approve .*)$/m));
  await type(await line(/^ {4}(npx slipway rollouts create .*)$/m));
  const [code] = await ended;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  phases.push(`${seconds} s: the end`, output);
  expect(code).toBe(0);
  expect(output).toMatch(/^ {2}now: {8}e2e_latency_ms p50 [\d.]+ ms$/m);
  expect(output).toMatch(
    /^ {2}predicted: {2}e2e_latency_ms p50 [\d.]+ ms \([\d.]+ to [\d.]+\), a 90 % interval, not yet/m,
  );
  expect(output).toMatch(
    /^ {2}rollout: {4}canary: 50 % of the requests for 30 s, then 100 % of the requests for 30 s$/m,
  );
  expect(output).toMatch(/^ {2}achieved: {3}e2e_latency_ms p50 [\d.]+ ms \([\d.]+ to [\d.]+\), from \d+ requests$/m);
  expect(output).toMatch(/^ {2}The achieved value is (?:in|out)side the predicted interval\.$/m);
  expect(output).toMatch(/^ {2}quickstart-plan-\w+-00002 serves all requests$/m);
  expect(seconds).toBeLessThanOrEqual(PROMISED_SECONDS);
});

it('stops everything at Ctrl-C, also while it sends requests', async () => {
  const ended = start('--with-plan');
  await line(/^(8\. .*)$/m);
  await line(/^ {2}(More requests will follow)/m);
  quickstart.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(output).not.toContain('failed');
  expect(existsSync(path.join(folder, '.slipway/run/api-url'))).toBe(false);
});
