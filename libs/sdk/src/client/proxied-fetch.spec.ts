import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { event, json, silent, stream, UnrulyServer } from '../../test/unruly-server.js';
import { ProxyServer } from '../../test/proxy-server.js';
import { Slipway } from '../slipway.js';
import { environmentFetch } from './proxied-fetch.js';

let server: UnrulyServer;
let proxy: ProxyServer;
beforeAll(async () => {
  server = await UnrulyServer.start();
  proxy = await ProxyServer.start(() => Number(new URL(server.url).port));
});
afterAll(async () => {
  await server?.stop();
  await proxy?.stop();
});
beforeEach(() => {
  proxy.seen.length = 0;
  proxy.refusesWith = undefined;
  server.does(json(200, { scopes: ['viewer'] }));
});

/** No resolver knows this name: only the proxy leads to it. */
const baseUrl = 'http://slipway.invalid/shop/';
const client = (env: Record<string, string> = { http_proxy: proxy.address }) =>
  new Slipway({ baseUrl, token: 'slw_a_b', maxRetries: 0, fetch: environmentFetch(env) });

it('sends requests for http through the proxy, with bodies, queries and headers', async () => {
  await client().whoAmI();
  await client().tokens.create({ name: 'ci', scopes: ['viewer'] });
  expect(proxy.seen.map(({ method, url }) => [method, url])).toEqual([
    ['GET', 'http://slipway.invalid/shop/api/v1/whoami'],
    ['POST', 'http://slipway.invalid/shop/api/v1/tokens?strict=true'],
  ]);
  expect(server.seen.map(({ url, body, headers }) => [url, body, headers['host'], headers['authorization']])).toEqual([
    ['/shop/api/v1/whoami', '', 'slipway.invalid', 'Bearer slw_a_b'],
    ['/shop/api/v1/tokens?strict=true', '{"name":"ci","scopes":["viewer"]}', 'slipway.invalid', 'Bearer slw_a_b'],
  ]);
});

it('sends files in parts, and reads streams while they arrive', async () => {
  const parts = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  await client().sandboxes.files.upload('sbx_1', 'a.txt', parts);
  expect(server.seen[0]).toMatchObject({ method: 'PUT', body: 'one two' });
  server.does(stream(`${event(1)}${event(2)}`));
  const sequences: number[] = [];
  for await (const { sequence } of client().deployments.events.follow('chat'))
    if (sequences.push(sequence) === 2) break;
  expect(sequences).toEqual([1, 2]);
  // A reader that stops releases the connection through the proxy too.
  await server.seen[0]?.closed;
});

it('is the default of the client, and calls the hosts of NO_PROXY directly', async () => {
  const before = process.env['http_proxy'];
  process.env['http_proxy'] = proxy.address;
  try {
    await new Slipway({ baseUrl, token: 'slw_a_b' }).whoAmI();
    process.env['no_proxy'] = '127.0.0.1';
    await server.client().whoAmI();
  } finally {
    if (before === undefined) delete process.env['http_proxy'];
    else process.env['http_proxy'] = before;
    delete process.env['no_proxy'];
  }
  expect([proxy.seen.length, server.seen.length]).toEqual([1, 2]);
});

it('signs in to a proxy that asks for it, and says nothing of the password when it refuses', async () => {
  const env = { http_proxy: `http://ada:p%40ss@${proxy.address}` };
  await client(env).whoAmI();
  expect(proxy.seen[0]?.authorization).toBe(`Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  expect(server.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
  proxy.refusesWith = 407;
  const failed = environmentFetch({ https_proxy: env.http_proxy })('https://slipway.invalid/');
  await expect(failed).rejects.toThrow(/^The proxy of https_proxy refused to connect: 407 Refused$/);
});

it('does not repeat a call if its proxy is no proxy, and names the variable', async () => {
  const startedAt = performance.now();
  const fetch = environmentFetch({ http_proxy: 'socks5://user:secret@proxy.test' });
  const failed = new Slipway({ baseUrl, token: 'slw_a_b', fetch }).whoAmI();
  const message = 'http_proxy names a proxy of the kind socks5: use http:// or https://.';
  await expect(failed).rejects.toMatchObject({ code: 'connection_failed', retryable: false, message });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

it('names the variable of a proxy that does not respond', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const failed = client({ http_proxy: `127.0.0.1:${port}` }).whoAmI();
  await expect(failed).rejects.toMatchObject({
    code: 'connection_failed',
    cause: { message: expect.stringMatching(/^The proxy of http_proxy does not respond: .*ECONNREFUSED/) },
  });
});

it('ends with the signal, before and after the headers', async () => {
  server.does(silent);
  const reason = new Error('enough');
  const stop = new AbortController();
  const call = client().whoAmI({ signal: stop.signal });
  await server.until(1);
  stop.abort(reason);
  await expect(call).rejects.toBe(reason);
  await server.seen[0]?.closed;
  server.does(stream('data: one\n\n'));
  const later = new AbortController();
  const answer = await environmentFetch({ http_proxy: proxy.address })(baseUrl, { signal: later.signal });
  const reader = answer.body!.getReader();
  await reader.read();
  later.abort(reason);
  await expect(reader.read()).rejects.toThrow();
  await server.seen[0]?.closed;
});

it('follows redirects without the token of another origin, or refuses them', async () => {
  const fetch = environmentFetch({ http_proxy: proxy.address });
  const headers = { authorization: 'Bearer slw_a_b' };
  const moved = (to: string) => server.does((answer) => answer.writeHead(302, { location: to }).end(), json(200, {}));
  moved('http://elsewhere.invalid/b');
  const answer = await fetch('http://slipway.invalid/a', { headers });
  expect([answer.status, answer.url]).toEqual([200, 'http://elsewhere.invalid/b']);
  expect(server.seen.map(({ headers: sent }) => sent['authorization'])).toEqual(['Bearer slw_a_b', undefined]);
  moved('/b');
  await expect(fetch('http://slipway.invalid/a', { headers, redirect: 'error' })).rejects.toThrow('redirects');
  expect(server.seen).toHaveLength(1);
});

it('sends requests for https through a tunnel, in which the proxy sees only the name of the server', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'slipway-proxy-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name)) as [string, string];
  const subject = ['-subj', '/CN=slipway.invalid', '-addext', 'subjectAltName=DNS:slipway.invalid'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const secure = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
    response.end('secret'),
  );
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const tunnel = await ProxyServer.start(() => (secure.address() as AddressInfo).port);
  try {
    const fetch = environmentFetch({ HTTPS_PROXY: tunnel.address });
    // The certificate is checked through the tunnel as without it.
    await expect(fetch('https://slipway.invalid/api')).rejects.toThrow('self-signed certificate');
    expect(tunnel.seen).toEqual([{ method: 'CONNECT', url: 'slipway.invalid:443', authorization: undefined }]);
    const program = `
      import { environmentFetch } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
      console.log(await (await environmentFetch()('https://slipway.invalid/api')).text());`;
    const env = { PATH: process.env['PATH'], HTTPS_PROXY: tunnel.address, NODE_EXTRA_CA_CERTS: cert };
    const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
    expect(ran.stdout).toBe('secret\n');
  } finally {
    await tunnel.stop();
    secure.closeAllConnections();
    await new Promise((resolve) => secure.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  }
});
