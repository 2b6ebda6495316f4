import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { freePort } from '@slipway/platform-database/testing';
import { commandsToTry } from '../src/demonstration.js';

jest.setTimeout(180_000);

const root = fileURLToPath(new URL('../../../', import.meta.url));
const NONE = [
  'SLIPWAY_HOME',
  'SLIPWAY_CONFIG',
  'SLIPWAY_URL',
  'SLIPWAY_TOKEN',
  'DATABASE_URL',
  'REDIS_URL',
  'NODE_ENV',
  'NODE_OPTIONS',
  'npm_lifecycle_event',
];

let folder: string;
let launcher: ChildProcess;
let env: NodeJS.ProcessEnv;

/** Like the shell of a person in the folder of the stack, without a login and without variables. */
function run(line: string): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  const child = spawn('bash', ['--norc', '-c', `exec ${line.replace(/^npx /, '')}`], { cwd: folder, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) };
}

async function says(output: () => string, what: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 150_000;
  while (!output().includes(what)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`it never says ${what}:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-try-'));
  chmodSync(folder, 0o755);
  env = childEnvironment({
    ...Object.fromEntries(NONE.map((name) => [name, undefined])),
    HOME: folder,
    XDG_CONFIG_HOME: undefined,
    PATH: `${path.join(root, 'node_modules/.bin')}:${path.dirname(process.execPath)}:${childEnvironment()['PATH']}`,
    SLIPWAY_API_PORT: String(await freePort()),
    SLIPWAY_GATEWAY_PORT: String(await freePort()),
  });
  launcher = spawn(process.execPath, [path.join(root, 'tools/quickstart/dist/start.js')], { cwd: folder, env });
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  await says(() => output, 'slipway ready', launcher);
});
afterAll(async () => {
  if (launcher.exitCode === null) {
    const gone = new Promise((resolve) => launcher.once('exit', resolve));
    launcher.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
});

it('the three lines at the end of the quickstart work while a stack is running, without a login', async () => {
  const spec = `'{"model":{"id":"llama"},"runtime":{"target":"local","engine":"sim"}}'`;
  for (const line of [
    'slipway deployments create chat',
    `bash --norc -c "echo ${spec.replaceAll('"', '\\"')} | slipway rollouts create chat --revision-file - --strategy immediate --wait"`,
  ]) {
    const { ended, output } = run(line);
    const code = await ended;
    expect([line, code, code === 0 ? '' : output()]).toEqual([line, 0, '']);
  }
  const [get, create, follow, ...more] = commandsToTry('chat');
  expect(more).toEqual([]);
  for (const line of [get!, create!]) {
    const { ended, output } = run(line);
    const code = await ended;
    expect([line, code, code === 0 ? '' : output()]).toEqual([line, 0, '']);
  }
  const following = run(follow!);
  await says(following.output, 'rollout.promoted', following.child);
  following.child.kill('SIGINT');
  expect(await following.ended).toBe(0);
});
