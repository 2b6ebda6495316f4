import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { runCommand } from '../test/run-command.js';

const ADDRESS = 'http://slipway.test/';
let folder: string;
let asked: { url: string; token: string | null }[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-open-'));
  asked = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const answering =
  (answer: () => Response): typeof fetch =>
  async (url, init) => {
    asked.push({ url: String(url), token: new Headers(init?.headers).get('authorization') });
    return answer();
  };
const page = answering(
  () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } }),
);
/** Stores the address that it should open. */
function browser(ending: string): string {
  const file = path.join(folder, 'browser');
  writeFileSync(file, `#!/bin/sh\necho "$#:$1" > '${folder}/opened'\nexit ${ending}\n`, { mode: 0o755 });
  return file;
}

it('opens the console of the context in the browser, and passes the token to no program', async () => {
  const ran = await runCommand(['open'], { fetch: page, columns: 80, env: { BROWSER: browser('0') } });
  expect(ran).toEqual({ code: 0, stdout: '', stderr: `Opened ${ADDRESS}\n` });
  expect(readFileSync(path.join(folder, 'opened'), 'utf8')).toBe(`1:${ADDRESS}\n`);
  expect(asked).toEqual([{ url: ADDRESS, token: null }]);
});

it.each([
  ['in a pipe', ['open'], undefined, 'browser'],
  ['where it is only to be printed', ['open', '--print'], 80, 'browser'],
  ['where the browser is not there', ['open'], 80, 'gone'],
])('prints the address %s', async (_where, words, columns, program) => {
  browser('0');
  const env = { BROWSER: path.join(folder, program) };
  expect((await runCommand(words, { fetch: page, columns, env })).stdout).toBe(`${ADDRESS}\n`);
  expect(existsSync(path.join(folder, 'opened'))).toBe(false);
});

it('prints the address if the browser fails', async () => {
  const ran = await runCommand(['open'], { fetch: page, columns: 80, env: { BROWSER: browser('3') } });
  expect(ran).toEqual({ code: 0, stdout: `${ADDRESS}\n`, stderr: '' });
});

it('opens nothing if the server has no console, or is no Slipway', async () => {
  const open = (fetch: typeof globalThis.fetch) =>
    runCommand(['open'], { fetch, columns: 80, env: { BROWSER: browser('0'), NO_COLOR: '1' } });
  const refused = () => Response.json({ error: {} }, { status: 404 });
  for (const answer of [refused, () => Response.json({}), () => new Response('', { status: 500 })])
    expect(await open(answering(answer))).toMatchObject({
      code: 6,
      stderr: `Error: This Slipway serves no console at ${ADDRESS}\n`,
    });
  const silent = await open(() => Promise.reject(new TypeError('fetch failed')));
  expect([silent.code, silent.stderr]).toEqual([
    1,
    expect.stringContaining('no response\n  Run slipway doctor to find the cause.'),
  ]);
  expect(existsSync(path.join(folder, 'opened'))).toBe(false);
});

it('does not mistake the docs, to which an api without a console redirects, for a console', async () => {
  const server = createServer((request, response) => {
    const isRoot = request.url === '/';
    response.writeHead(isRoot ? 302 : 200, { 'content-type': 'text/html', ...(isRoot && { location: '/docs' }) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const codes = [];
  for (const path of ['', '/under/a/path/'])
    codes.push((await runCommand(['open', '--print'], { env: { SLIPWAY_URL: url + path } })).code);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(codes).toEqual([6, 0]);
});
