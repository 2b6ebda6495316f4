import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { parse } from 'yaml';

/** A registry that serves only the manifest route. Other behaviour of real registries is not tested here. */
const SCRIPT = fileURLToPath(new URL('../pin-images.mjs', import.meta.url));
const MANIFEST = JSON.stringify({ schemaVersion: 2, manifests: [] });
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`;

let server: Server;
let host: string;
let folder: string;
let seen: { url: string; accept: string; authorization: string | undefined }[];
let behaviour: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-pin-'));
  server = createServer((request, response) => {
    const { accept = '', authorization } = request.headers;
    seen.push({ url: request.url as string, accept, authorization });
    behaviour(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = [];
  behaviour = (_request, response) => response.setHeader('docker-content-digest', DIGEST).end(MANIFEST);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function pin(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], (failure, out, err) => {
      resolve({ code: failure ? Number(failure.code) : 0, out, err });
    });
  });
}
function file(name: string, text: string): string {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
}

it('writes the digest of every image into Compose files and Dockerfiles, and changes nothing else', async () => {
  const old = `${host}/old:1@sha256:${'0'.repeat(64)}`;
  const compose = file(
    'compose.yaml',
    `services:\n  a:\n    image: ${host}/team/app:1.2 # why\n  b: { x: 1 }\n  c:\n    image: "${old}"\n`,
  );
  const docker = file(
    'Dockerfile',
    `FROM --platform=linux/amd64 ${host}/node:24 AS build\nRUN x\nFROM build AS run\nFROM scratch\n`,
  );
  expect((await pin('--check', compose, docker)).err).toBe(
    `${compose}: ${host}/team/app:1.2 is not pinned\n${docker}: ${host}/node:24 is not pinned\n`,
  );
  expect(seen).toEqual([]);
  expect(await pin(compose, docker)).toMatchObject({ code: 0 });
  expect(readFileSync(compose, 'utf8')).toBe(
    `services:\n  a:\n    image: ${host}/team/app:1.2@${DIGEST} # why\n  b: { x: 1 }\n  c:\n    image: "${old}"\n`,
  );
  expect(readFileSync(docker, 'utf8')).toBe(
    `FROM --platform=linux/amd64 ${host}/node:24@${DIGEST} AS build\nRUN x\nFROM build AS run\nFROM scratch\n`,
  );
  expect(seen.map(({ url }) => url)).toEqual(['/v2/team/app/manifests/1.2', '/v2/node/manifests/24']);
  // The digest of an index, if there is one: the image of one platform runs nowhere else.
  expect(seen[0]?.accept).toMatch(/^application\/vnd\.oci\.image\.index/);
  expect(await pin('--check', compose, docker)).toEqual({ code: 0, out: '', err: '' });
  // Pinned images cause no further requests.
  seen = [];
  expect([(await pin(compose, docker)).code, seen]).toEqual([0, []]);
});

it('writes a Compose file that runs published images instead of building them', async () => {
  const { out } = await pin(
    '--service',
    `api=${host}/slipway-api:0.2.0`,
    '--service',
    `worker=${host}/slipway-worker:0.2.0`,
  );
  expect(out).toContain('build: !reset null');
  expect(parse(out.replaceAll('!reset ', '')).services).toEqual({
    api: { build: null, image: `${host}/slipway-api:0.2.0@${DIGEST}` },
    worker: { build: null, image: `${host}/slipway-worker:0.2.0@${DIGEST}` },
  });
});

it('fetches an anonymous token if the registry requires one', async () => {
  behaviour = (request, response) => {
    if (request.url?.startsWith('/token')) response.end(JSON.stringify({ token: 'anonymous' }));
    else if (request.headers.authorization === 'Bearer anonymous') response.end(MANIFEST);
    else
      response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="http://${host}/token",service="reg",scope="repository:a/b:pull"`,
        })
        .end();
  };
  const compose = file('compose.yaml', `    image: ${host}/a/b:1\n`);
  expect(await pin(compose)).toMatchObject({ code: 0 });
  expect(readFileSync(compose, 'utf8')).toContain(DIGEST);
  expect(seen[1]?.url).toBe('/token?service=reg&scope=repository%3Aa%2Fb%3Apull');
});

it.each<[what: string, answer: (response: ServerResponse) => void, says: RegExp]>([
  ['does not know the tag', (response) => response.writeHead(404).end(), /returned 404/],
  [
    'requires a login',
    (response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
    /requires a login/,
  ],
  [
    'sends tokens over plain HTTP',
    (response) => response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://192.0.2.1/token"' }).end(),
    /plain HTTP/,
  ],
  [
    'declares another digest than it sends',
    (response) => response.setHeader('docker-content-digest', `sha256:${'f'.repeat(64)}`).end(MANIFEST),
    /but sent/,
  ],
  [
    'sends a manifest that is too large',
    (response) => response.end(Buffer.alloc(5 * 1024 * 1024)),
    /is larger than 4194304 bytes/,
  ],
])('writes nothing if a registry %s', async (_what, answer, says) => {
  behaviour = (request, response) => (request.url?.includes('/good/') ? response.end(MANIFEST) : answer(response));
  const text = `    image: ${host}/good:1\n    image: ${host}/bad:1\n`;
  const compose = file('compose.yaml', text);
  const { code, err } = await pin(compose);
  expect([code, err]).toEqual([1, expect.stringMatching(says)]);
  expect(readFileSync(compose, 'utf8')).toBe(text);
});

it.each([
  ['without a tag', 'image: redis'],
  ['with a variable', 'image: ${IMAGE}:1'],
  ['with an invalid digest', 'image: redis:7@sha256:abc'],
  ['with an invalid name', 'image: Redis:7'],
])('refuses an image %s', async (_what, line) => {
  expect(await pin(file('compose.yaml', `    ${line}\n`))).toMatchObject({ code: 1 });
  expect(seen).toEqual([]);
});

it('reads the image references of this repository', async () => {
  const folderOfImages = fileURLToPath(new URL('../../../docker/', import.meta.url));
  const files = ['compose.yaml', 'Dockerfile'];
  const { err } = await pin('--check', ...files.map((name) => path.join(folderOfImages, name)));
  const left = err.trim().split('\n').filter(Boolean);
  for (const line of left) expect(line).toMatch(/: [a-z]+:[\w.-]+ is not pinned$/);
});
