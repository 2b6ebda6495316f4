import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { ask, codeIn, consoleAt, signInAt } from './console-browser.js';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const SCRIPT = 'console.log("the console");\n'.repeat(100);

let files: string;
let api: TestApi;

beforeAll(async () => {
  files = await mkdtemp(path.join(tmpdir(), 'slipway-console-'));
  await mkdir(path.join(files, 'assets'));
  await writeFile(
    path.join(files, 'index.html'),
    '<!doctype html><script type="module" src="/assets/main-4f2a.js"></script>',
  );
  await writeFile(path.join(files, 'assets', 'main-4f2a.js'), SCRIPT);
  await writeFile(path.join(files, 'assets', 'main-4f2a.js.gz'), gzipSync(SCRIPT));
  api = await bootApi({ SLIPWAY_CONSOLE_FILES: files });
});
afterAll(async () => {
  await api?.close();
  await rm(files, { recursive: true });
});

describe('its files', () => {
  it.each(['/', '/?x=1', '/deployments/chat', '/deployments/chat?tab=a', '/sign-in'])(
    'serves the page at %s under a policy that permits nothing else',
    async (target) => {
      const answer = await ask(api.url, 'GET', target, { headers: { accept: HTML } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; ");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it.each(['/api/v1/nothing', '/console/nothing', '/docs/nothing', '/assets/nothing.js', '/healthz/x', '/metrics/x'])(
    'keeps %s an error',
    async (target) => {
      expect(codeIn(await ask(api.url, 'GET', target, { headers: { accept: HTML } }))).toBe('404 not_found');
    },
  );

  it('answers programs as before, and sends them no page', async () => {
    const links = await ask(api.url, 'GET', '/', { headers: { accept: 'application/json' } });
    expect(links.body).toMatchObject({ name: 'slipway', api: '/api/v1' });
    expect(codeIn(await ask(api.url, 'GET', '/deployments/chat', { headers: { accept: '*/*' } }))).toBe(
      '404 not_found',
    );
    expect(codeIn(await ask(api.url, 'POST', '/deployments/chat', { headers: { accept: HTML }, body: {} }))).toBe(
      '404 not_found',
    );
  });

  it('serves assets as immutable, compressed for clients that accept that', async () => {
    const plain = await ask(api.url, 'GET', '/assets/main-4f2a.js');
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-type')).toContain('javascript');
    const small = await ask(api.url, 'GET', '/assets/main-4f2a.js', { headers: { 'accept-encoding': 'gzip' } });
    expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
    for (const target of ['/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/..%2findex.html'])
      expect((await ask(api.url, 'GET', target)).status).not.toBe(200);
  });
});

describe('an api without the console', () => {
  it('reports at / that the console is not built, and serves everything else', async () => {
    const bare = await bootApi({ SLIPWAY_CONSOLE_FILES: path.join(files, 'nothing') });
    try {
      const page = await ask(bare.url, 'GET', '/', { headers: { accept: HTML } });
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('The console is not built')]);
      expect(codeIn(await ask(bare.url, 'GET', '/deployments', { headers: { accept: HTML } }))).toBe('404 not_found');
      expect((await consoleAt(bare.url, await signInAt(bare.url, bare.token)).whoAmI()).tenant.name).toBe('default');
    } finally {
      await bare.close();
    }
  });

  it('serves no part of it if it is off', async () => {
    const off = await bootApi({ SLIPWAY_CONSOLE_FILES: files, SLIPWAY_CONSOLE: 'off' });
    try {
      expect((await ask(off.url, 'GET', '/', { headers: { accept: HTML } })).headers.get('content-type')).toContain(
        'json',
      );
      for (const target of [
        '/console/session',
        '/console/sign-in',
        '/console/callback',
        '/console/api/v1/whoami',
        '/console/gateway/v1/models',
        '/assets/main-4f2a.js',
        '/deployments',
      ])
        expect([target, codeIn(await ask(off.url, 'GET', target, { headers: { accept: HTML } }))]).toEqual([
          target,
          '404 not_found',
        ]);
    } finally {
      await off.close();
    }
  });
});
