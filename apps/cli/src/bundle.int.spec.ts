import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMMAND = path.join(PACKAGE, 'bin/slipway.js');
const { version } = JSON.parse(readFileSync(path.join(PACKAGE, 'package.json'), 'utf8')) as { version: string };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-installed-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('works after npm i -g, from its one file and without the clone', async () => {
  const options = { cwd: folder, env: { ...process.env, npm_config_cache: path.join(folder, 'cache') } };
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder, PACKAGE], options);
  const install = ['install', '--global', '--prefix', folder, '--offline', '--no-audit', '--no-fund'];
  await run('npm', [...install, path.join(folder, stdout.trim())], options);
  const installed = path.join(folder, 'bin/slipway');
  expect((await run(installed, ['--version'], { cwd: folder })).stdout.trim()).toBe(version);
  const api = { PATH: process.env['PATH'], HOME: folder, SLIPWAY_URL: 'http://127.0.0.1:1', SLIPWAY_TOKEN: 'slw_a_b' };
  // The file contains the sdk and yaml: only the address fails.
  const failed = run(installed, ['deployments', 'create', 'x', '-f', '-'], { cwd: folder, env: api });
  failed.child.stdin?.end('labels: {a: b}');
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('code: connection_failed') });
});

describe('if the reader of its output leaves', () => {
  let api: Server;
  beforeAll(async () => {
    const operation = {
      id: 'op_1',
      kind: 'rollout',
      resource_name: 'chat',
      progress: 0,
      result: {},
      completed_at: null,
    };
    const steps = [{ index: 0, name: 'soak:1', status: 'running', message: '' }];
    api = createServer((request, response) => {
      if (request.headers.accept === 'text/event-stream') return void response.writeHead(404).end();
      const rows = { data: [{ name: 'chat' }], next_cursor: null };
      const body = request.url!.includes('/operations/') ? { ...operation, status: 'running', steps } : rows;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    api.closeAllConnections();
    await new Promise((resolve) => api.close(resolve));
  });

  it.each([
    ['a table', 'stdout', ['deployments', 'list']],
    ['a text', 'stdout', ['schema']],
    ['a wait', 'stderr', ['operations', 'wait', 'op_1']],
  ] as const)('ends with 141, as of a program that SIGPIPE ended: %s', async (_what, side, words) => {
    const SLIPWAY_URL = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const env = { PATH: process.env['PATH'], HOME: folder, SLIPWAY_URL, SLIPWAY_TOKEN: 'slw_a_b' };
    const child = spawn(process.execPath, [COMMAND, ...words], { cwd: folder, env });
    // The pipe has no reader before the command writes to it.
    child[side].destroy();
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(141);
  });
});

it('is linked as slipway in the clone', async () => {
  const { stdout } = await run(path.join(ROOT, 'node_modules/.bin/slipway'), ['--version'], { cwd: folder });
  expect(stdout.trim()).toBe(version);
});

/** Prints the microseconds of processor time at the end. Time on the clock would also count the work of others. */
const REPORTER = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  process.stderr.write(String(user + system));
});`;

it('shows its help within three times the processor time that Node needs to do nothing', () => {
  const reporter = path.join(folder, 'reporter.cjs');
  writeFileSync(reporter, REPORTER);
  const timeOf = (...args: string[]): number => {
    const { status, stderr } = spawnSync(process.execPath, ['--require', reporter, ...args], { cwd: folder });
    expect(status).toBe(0);
    return Number(stderr);
  };
  // Takes the best of several alternating runs: other work on the machine makes a run slower, and never faster.
  const best = { nothing: Infinity, help: Infinity };
  for (let i = 0; i < 15; i += 1) {
    best.nothing = Math.min(best.nothing, timeOf('-e', '0'));
    best.help = Math.min(best.help, timeOf(COMMAND, '--help'));
  }
  expect(best.help / best.nothing).toBeLessThan(3);
});
