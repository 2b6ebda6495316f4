import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from './boot-api.js';
import { codeOf } from './refusals.js';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const SCRIPT = 'console.log("the console");\n'.repeat(100);

let files: string;
let api: TestApi;

beforeAll(async () => {
  files = await mkdtemp(path.join(tmpdir(), 'slipway-console-'));
  await mkdir(path.join(files, 'assets'));
  await writeFile(
    path.join(files, 'index.html'),
    '<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__"><script type="module" src="/assets/main-4f2a.js"></script>',
  );
  await writeFile(path.join(files, 'assets', 'main-4f2a.js'), SCRIPT);
  await writeFile(path.join(files, 'assets', 'main-4f2a.js.gz'), gzipSync(SCRIPT));
  api = await bootApi({ SLIPWAY_CONSOLE_FILES: files });
});
afterAll(async () => {
  await api?.close();
  await rm(files, { recursive: true });
});

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

/** Not `fetch`, which sets Host itself and cleans paths. */
function ask(
  method: string,
  target: string,
  { headers = {}, body, of = api }: { headers?: Record<string, string>; body?: unknown; of?: TestApi } = {},
): Promise<Answer> {
  const { hostname, port, host } = new URL(of.url);
  const text = body === undefined || typeof body === 'string' ? (body as string | undefined) : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        method,
        path: target,
        headers: { host, ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const all = Buffer.concat(chunks).toString();
          const isJson = answer.headers['content-type']?.includes('json') && all !== '';
          resolve({
            status: answer.statusCode ?? 0,
            headers: new Headers(
              Object.entries(answer.headers).flatMap(([name, value]) =>
                [value ?? []].flat().map((one): [string, string] => [name, one]),
              ),
            ),
            text: all,
            body: isJson ? JSON.parse(all) : undefined,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

interface SignedIn {
  cookie: string;
  csrf: string;
}

async function signIn(token = api.token, of = api): Promise<SignedIn> {
  const answer = await ask('POST', '/console/session', { body: { token }, of });
  expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ signed_in: true, method: 'token' })]);
  return { cookie: answer.headers.get('set-cookie')!.split(';', 1)[0]!, csrf: answer.body.csrf };
}

/** As the console makes it: the cookie is the browser's. */
function consoleOf({ cookie, csrf }: SignedIn, of = api): Slipway {
  return new Slipway({
    baseUrl: `${of.url}/console`,
    token: 'cookie',
    maxRetries: 0,
    fetch: (input, init) => {
      const request = new Request(input, init);
      request.headers.set('cookie', cookie);
      request.headers.set('x-csrf-token', csrf);
      return fetch(request);
    },
  });
}

const codeIn = ({ status, body }: Answer): string => `${status} ${body?.error?.code}`;

describe('its files', () => {
  it.each(['/', '/?x=1', '/deployments/chat', '/deployments/chat?tab=a', '/sign-in'])(
    'serves the page at %s under a policy that lets nothing else in',
    async (target) => {
      const answer = await ask('GET', target, { headers: { accept: HTML } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy.replace("style-src-attr 'unsafe-inline'", '')).not.toContain('unsafe');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      const nonce = /nonce-([^']+)'/.exec(policy)?.[1];
      expect(answer.text).toContain(`nonce="${nonce}"`);
      const again = await ask('GET', target, { headers: { accept: HTML } });
      expect(again.headers.get('content-security-policy')).not.toBe(policy);
    },
  );

  it.each(['/api/v1/nothing', '/console/nothing', '/docs/nothing', '/assets/nothing.js', '/healthz/x', '/metrics/x'])(
    'leaves %s an error',
    async (target) => {
      expect(codeIn(await ask('GET', target, { headers: { accept: HTML } }))).toBe('404 not_found');
    },
  );

  it('tells programs what it told them, and takes no page for an answer to them', async () => {
    const links = await ask('GET', '/', { headers: { accept: 'application/json' } });
    expect(links.body).toMatchObject({ name: 'slipway', api: '/api/v1' });
    expect(codeIn(await ask('GET', '/deployments/chat', { headers: { accept: '*/*' } }))).toBe('404 not_found');
    expect(codeIn(await ask('POST', '/deployments/chat', { headers: { accept: HTML }, body: {} }))).toBe(
      '404 not_found',
    );
  });

  it('serves assets for ever, smaller to who takes that', async () => {
    const plain = await ask('GET', '/assets/main-4f2a.js');
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-type')).toContain('javascript');
    const small = await ask('GET', '/assets/main-4f2a.js', { headers: { 'accept-encoding': 'gzip' } });
    expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
    for (const target of ['/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/..%2findex.html'])
      expect((await ask('GET', target)).status).not.toBe(200);
  });
});

describe('a session by token', () => {
  it('is opened, shown and ended, at the server too', async () => {
    const before = await ask('GET', '/console/session');
    expect(before.body).toEqual({ signed_in: false, methods: ['token'], gateway: api.config.gateway.publicUrl });
    const answer = await ask('POST', '/console/session', { body: { token: api.token } });
    const [cookie, ...attributes] = answer.headers.get('set-cookie')!.split('; ');
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Lax']);
    const headers = { cookie: cookie! };
    expect((await ask('GET', '/console/session', { headers })).body).toEqual(answer.body);
    expect(JSON.stringify(answer.body)).not.toContain(api.token);
    const out = await ask('DELETE', '/console/session', { headers });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await ask('GET', '/console/session', { headers })).body).toEqual(before.body);
    expect(codeIn(await ask('GET', '/console/api/v1/whoami', { headers }))).toBe('401 unauthenticated');
  });

  it('is not opened for what is no token', async () => {
    for (const token of ['x', 'slw_x_y', `${api.token}x`, `slw_nobody_${'x'.repeat(43)}`]) {
      const answer = await ask('POST', '/console/session', { body: { token } });
      expect([codeIn(answer), answer.headers.get('set-cookie')]).toEqual(['401 unauthenticated', null]);
    }
    expect(codeIn(await ask('POST', '/console/session', { body: {} }))).toBe('422 validation_failed');
    expect(codeIn(await ask('POST', '/console/session', { body: { token: 'x'.repeat(20_000) } }))).toBe(
      '413 body_too_large',
    );
  });

  it('speaks to the api as its token, and changes nothing without the csrf text', async () => {
    const session = await signIn();
    const console = consoleOf(session);
    expect((await console.whoAmI()).tenant.name).toBe('default');
    await console.deployments.create({ name: 'by-console' });
    expect((await api.slipway().deployments.get('by-console')).name).toBe('by-console');
    const post = (headers: Record<string, string>) =>
      ask('POST', '/console/api/v1/deployments', {
        headers: { cookie: session.cookie, ...headers },
        body: { name: 'by-other' },
      });
    expect(codeIn(await post({}))).toBe('403 csrf_refused');
    expect(codeIn(await post({ 'x-csrf-token': (await signIn()).csrf }))).toBe('403 csrf_refused');
    expect(codeIn(await post({ 'x-csrf-token': session.csrf, cookie: '' }))).toBe('401 unauthenticated');
    expect(await codeOf(api.slipway().deployments.get('by-other'))).toBe('404 deployment_not_found');
  });

  it('ends with its token, at its next request', async () => {
    const { token, id } = await api.slipway().tokens.create({ name: 'short', scopes: ['viewer'] });
    const session = await signIn(token);
    const console = consoleOf(session);
    expect((await console.whoAmI()).scopes).toEqual(['viewer']);
    await api.slipway().tokens.revoke(id);
    expect(await codeOf(console.whoAmI())).toBe('401 unauthenticated');
    const shown = await ask('GET', '/console/session', { headers: { cookie: session.cookie } });
    expect([shown.body.signed_in, shown.headers.get('set-cookie')]).toEqual([
      false,
      expect.stringContaining('Max-Age=0'),
    ]);
  });
});
