import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { addressVerdict } from './addresses.js';
import { guardedDispatcher, type ResolveHost } from './guarded-dispatcher.js';
import { addressPermitted, checkUrl, parseAllow } from './rules.js';

const ALLOW = [
  'http://127.0.0.1:*',
  'https://*.inference.example.com',
  'https://gpu.corp.example:8443',
  'http://[::1]:9000',
];

describe('checkUrl', () => {
  it.each([
    'http://127.0.0.1',
    'http://127.0.0.1:8000/v1',
    'HTTP://127.0.0.1:8000/v1?x=1',
    'https://a.inference.example.com/v1',
    'https://a.b.inference.example.com:443/',
    'https://A.Inference.Example.com',
    'https://gpu.corp.example:8443/v1',
    'http://[::1]:9000/health',
  ])('allows %s', (url) => {
    expect(checkUrl(ALLOW, url)).toMatchObject({ ok: true });
  });

  it.each([
    ['https://127.0.0.1:8000', 'url_not_allowed'],
    ['http://127.0.0.2:8000', 'url_not_allowed'],
    ['http://localhost:8000', 'url_not_allowed'],
    ['https://inference.example.com', 'url_not_allowed'],
    ['https://evilinference.example.com', 'url_not_allowed'],
    ['https://a.inference.example.com.evil.test', 'url_not_allowed'],
    ['https://a.inference.example.com:8443', 'url_not_allowed'],
    ['http://a.inference.example.com', 'url_not_allowed'],
    ['https://gpu.corp.example', 'url_not_allowed'],
    ['http://[::1]:9001/', 'url_not_allowed'],
    ['http://169.254.169.254/latest/meta-data', 'url_not_allowed'],
    ['http://127.0.0.1:80@evil.test/', 'userinfo_not_allowed'],
    ['http://user:pw@127.0.0.1/', 'userinfo_not_allowed'],
    ['http://@127.0.0.1/', 'userinfo_not_allowed'],
    ['http://127.0.0.1/#x', 'fragment_not_allowed'],
    ['http://127.0.0.1/#', 'fragment_not_allowed'],
    ['http://127.1/', 'host_not_canonical'],
    ['http://0x7f.0.0.1/', 'host_not_canonical'],
    ['http://2130706433/', 'host_not_canonical'],
    ['http://0177.0.0.1/', 'host_not_canonical'],
    ['http://127.0.0.1./', 'host_not_canonical'],
    ['http://127.0.0.%31/', 'host_not_canonical'],
    ['http://[0:0:0:0:0:0:0:1]:9000/', 'host_not_canonical'],
    ['https://a.inference.example.com./', 'host_not_canonical'],
    ['http://[::ffff:127.0.0.1]/', 'host_not_canonical'],
    ['http://[::ffff:7f00:1]/', 'url_not_allowed'],
    ['http:\\\\127.0.0.1/', 'invalid_url'],
    ['http://127.0.0.1\\@evil.test/', 'invalid_url'],
    ['http:127.0.0.1', 'invalid_url'],
    ['http:///127.0.0.1', 'host_not_canonical'],
    ['//127.0.0.1/', 'invalid_url'],
    ['/v1', 'invalid_url'],
    ['', 'invalid_url'],
    [' http://127.0.0.1/', 'invalid_url'],
    ['http://127.0.0.1/\nhost', 'invalid_url'],
    ['http://127.0\t.0.1/', 'invalid_url'],
    ['http://127。0。0。1/', 'invalid_url'],
    ['http://127.0.0.1:99999/', 'invalid_url'],
    ['http://127.0.0.1:-1/', 'invalid_url'],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['ftp://127.0.0.1/', 'scheme_not_allowed'],
    ['gopher://127.0.0.1:11211/', 'scheme_not_allowed'],
    ['javascript://127.0.0.1/%0aalert(1)', 'scheme_not_allowed'],
  ])('refuses %j: %s', (url, code) => {
    expect(checkUrl(ALLOW, url)).toMatchObject({ ok: false, code });
  });

  it.each([
    ['https://10.0.0.1/', 'address_not_allowed'],
    ['https://[fe80::1]/', 'address_not_allowed'],
    ['https://[::ffff:a00:1]/', 'address_not_allowed'],
    ['https://[64:ff9b::a00:1]/', 'address_not_allowed'],
    ['https://169.254.169.254/', 'address_not_allowed'],
  ])('a wildcard for every host is not one for %s', (url, code) => {
    expect(checkUrl(['https://*'], url)).toMatchObject({ ok: false, code });
  });

  it('a wildcard for every host covers public names and addresses', () => {
    expect(checkUrl(['https://*'], 'https://hooks.example.com/a')).toMatchObject({ ok: true, isLiteral: false });
    expect(checkUrl(['https://*'], 'https://8.8.8.8/a')).toMatchObject({ ok: true, isLiteral: false });
    expect(checkUrl(['https://*'], 'https://hooks.example.com:8443/a')).toMatchObject({ ok: false });
    expect(checkUrl(['https://*:*'], 'https://hooks.example.com:8443/a')).toMatchObject({ ok: true });
  });

  it('allows nothing when the list is empty', () => {
    expect(checkUrl([], 'http://127.0.0.1')).toMatchObject({ ok: false, code: 'url_not_allowed' });
  });
});

describe('parseAllow', () => {
  it.each([
    '127.0.0.1',
    'ftp://a.example',
    'http://a.example/path',
    'http://user@a.example',
    'http://a.*.example',
    'http://*a.example',
    'http://a.example:0',
    'http://a.example:99999',
    'http://a.example.',
    'http://127.1:*',
    'http://',
    '*',
    'http://a..b',
  ])('refuses %s', (pattern) => {
    expect(() => parseAllow([pattern])).toThrow(TypeError);
  });
});

describe('addressVerdict', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['127.0.0.1', 'internal'],
    ['127.255.255.254', 'internal'],
    ['10.1.2.3', 'internal'],
    ['172.16.0.1', 'internal'],
    ['192.168.1.1', 'internal'],
    ['100.64.0.1', 'internal'],
    ['::1', 'internal'],
    ['fd12::1', 'internal'],
    ['::ffff:127.0.0.1', 'internal'],
    ['::ffff:10.0.0.1', 'internal'],
    ['0.0.0.0', 'forbidden'],
    ['0.1.2.3', 'forbidden'],
    ['169.254.169.254', 'forbidden'],
    ['::ffff:169.254.169.254', 'forbidden'],
    ['100.100.100.200', 'forbidden'],
    ['192.0.0.192', 'forbidden'],
    ['fd00:ec2::254', 'forbidden'],
    ['224.0.0.1', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    ['240.0.0.1', 'forbidden'],
    ['198.18.0.1', 'forbidden'],
    ['::', 'forbidden'],
    ['fe80::1', 'forbidden'],
    ['fe80::1%eth0', 'forbidden'],
    ['ff02::1', 'forbidden'],
    ['fec0::1', 'forbidden'],
    ['::127.0.0.1', 'internal'],
    ['::7f00:1', 'forbidden'],
    ['64:ff9b::7f00:1', 'forbidden'],
    ['2002:7f00:1::', 'forbidden'],
    ['2001::1', 'forbidden'],
    ['2001:db8::1', 'forbidden'],
    ['not an address', 'forbidden'],
    ['', 'forbidden'],
    ['127.1', 'forbidden'],
  ])('%s is %s', (address, verdict) => {
    expect(addressVerdict(address)).toBe(verdict);
  });
});

describe('addressPermitted', () => {
  it('lets a literally named host be internal, but not link-local or metadata', () => {
    expect(addressPermitted('gpu.corp.example', true, '10.0.0.7')).toBe(true);
    expect(addressPermitted('gpu.corp.example', true, '169.254.169.254')).toBe(false);
    expect(addressPermitted('gpu.corp.example', true, 'fd00:ec2::254')).toBe(false);
    expect(addressPermitted('a.inference.example.com', false, '10.0.0.7')).toBe(false);
    expect(addressPermitted('a.inference.example.com', false, '8.8.8.8')).toBe(true);
  });
  it('lets an address be only itself', () => {
    expect(addressPermitted('169.254.1.1', true, '169.254.1.1')).toBe(true);
    expect(addressPermitted('127.0.0.1', true, '::ffff:127.0.0.1')).toBe(true);
    expect(addressPermitted('8.8.8.8', true, '8.8.4.4')).toBe(false);
  });
});

describe('guardedDispatcher', () => {
  let server: Server;
  let port: number;
  let hits: string[];
  beforeAll(async () => {
    hits = [];
    server = createServer((incoming, outgoing) => {
      hits.push(`${incoming.headers.host}${incoming.url}`);
      if (incoming.url === '/redirect') outgoing.writeHead(302, { location: `http://localhost:${port}/secret` });
      outgoing.end('hello');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const get = async (allow: string[], url: string, resolve?: ResolveHost) => {
    const dispatcher = guardedDispatcher(allow, { resolve, connectTimeoutMs: 2_000 });
    try {
      const answer = await request(url, { dispatcher });
      return { status: answer.statusCode, text: await answer.body.text() };
    } finally {
      await dispatcher.destroy();
    }
  };
  const to =
    (...addresses: string[]): ResolveHost =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const refused = { name: 'EgressRefusedError', code: 'EGRESS_REFUSED' };

  it('reaches a literally named address and a literally named host', async () => {
    expect(await get(['http://127.0.0.1:*'], `http://127.0.0.1:${port}/`)).toEqual({ status: 200, text: 'hello' });
    expect(
      await get([`http://gpu.corp.example:${port}`], `http://gpu.corp.example:${port}/`, to('127.0.0.1')),
    ).toMatchObject({ status: 200 });
  });

  it('refuses what is not in the list, also an address, without connecting', async () => {
    const before = hits.length;
    await expect(get(['http://127.0.0.1:1'], `http://127.0.0.1:${port}/`)).rejects.toMatchObject(refused);
    await expect(get(['http://*:*'], `http://127.0.0.1:${port}/`)).rejects.toMatchObject(refused);
    await expect(get(['http://127.0.0.1:*'], `http://localhost:${port}/`)).rejects.toMatchObject(refused);
    await expect(get(['http://*:*'], `http://[::ffff:127.0.0.1]:${port}/`)).rejects.toMatchObject(refused);
    expect(hits.length).toBe(before);
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['private', ['10.0.0.1']],
    ['public and loopback mixed', ['8.8.8.8', '127.0.0.1']],
  ])('refuses a wildcard name that resolves to %s', async (_case, addresses) => {
    const before = hits.length;
    await expect(
      get(['http://*.example.com:*'], `http://a.example.com:${port}/`, to(...addresses)),
    ).rejects.toMatchObject(refused);
    expect(hits.length).toBe(before);
  });

  it('dials the address that was checked: a name that rebinds is asked once for one connection', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    let asked = 0;
    const rebinding: ResolveHost = async () => [{ address: answers[asked++], family: 4 }];
    expect(await get([`http://gpu.corp.example:${port}`], `http://gpu.corp.example:${port}/`, rebinding)).toMatchObject(
      { status: 200 },
    );
    expect(asked).toBe(1);
  });

  it('checks again at every new connection', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    let asked = 0;
    const dispatcher = guardedDispatcher([`http://gpu.corp.example:${port}`], {
      resolve: async () => [{ address: answers[asked++], family: 4 }],
    });
    try {
      const url = `http://gpu.corp.example:${port}/`;
      const first = await request(url, { dispatcher, headers: { connection: 'close' } });
      await first.body.dump();
      await expect(request(url, { dispatcher })).rejects.toMatchObject(refused);
      expect(asked).toBe(2);
    } finally {
      await dispatcher.destroy();
    }
  });

  it('follows no redirect', async () => {
    const before = hits.length;
    expect(await get(['http://127.0.0.1:*'], `http://127.0.0.1:${port}/redirect`)).toMatchObject({ status: 302 });
    expect(hits.slice(before)).toEqual([`127.0.0.1:${port}/redirect`]);
  });

  it('fails plainly when a name has no address', async () => {
    await expect(get(['http://*.example.com:*'], 'http://a.example.com/', async () => [])).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
  });
});
