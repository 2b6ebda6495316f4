import { createServer, type Server } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AllowEntry } from '@slipway/contracts';
import { request } from 'undici';
import { addressReachOf } from './addresses.js';
import { Egress } from './egress.js';
import { guardedDispatcher, type ResolveHost } from './guarded-dispatcher.js';
import { addressPermitted, checkUrl, outsideOf, parseAllow } from './rules.js';

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
    'http://localhost:8000/v1',
    'http://LOCALHOST',
  ])('allows %s', (url) => {
    expect(checkUrl(ALLOW, url)).toMatchObject({ ok: true });
  });

  it.each([
    ['https://127.0.0.1:8000', 'url_not_allowed'],
    ['http://127.0.0.2:8000', 'url_not_allowed'],
    ['https://localhost:8000', 'url_not_allowed'],
    ['http://localhost.:8000', 'host_not_canonical'],
    ['http://a.localhost:8000', 'url_not_allowed'],
    ['http://localhost.example.com', 'url_not_allowed'],
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
  ])('a wildcard for every host does not cover %s', (url, code) => {
    expect(checkUrl(['https://*'], url)).toMatchObject({ ok: false, code });
  });

  it('a wildcard for every host covers public names and addresses', () => {
    expect(checkUrl(['https://*'], 'https://hooks.example.com/a')).toMatchObject({ ok: true, isLiteral: false });
    expect(checkUrl(['https://*'], 'https://8.8.8.8/a')).toMatchObject({ ok: true, isLiteral: false });
    expect(checkUrl(['https://*'], 'https://hooks.example.com:8443/a')).toMatchObject({ ok: false });
    expect(checkUrl(['https://*:*'], 'https://hooks.example.com:8443/a')).toMatchObject({ ok: true });
  });

  it.each([[['http://10.0.0.1:*']], [['http://127.0.0.1:9']], [['https://*']], [['http://127.0.0.2:*']]])(
    'does not count localhost as part of %j',
    (allow) => expect(checkUrl(allow, 'http://localhost:8000')).toMatchObject({ ok: false, code: 'url_not_allowed' }),
  );

  it('lists the allowed patterns, but only as many as a person reads', () => {
    expect(outsideOf(ALLOW.slice(0, 2))).toBe(
      "is outside of the target's allow list: http://127.0.0.1:*, https://*.inference.example.com",
    );
    expect(outsideOf([])).toBe("is outside of the target's allow list, which is empty");
    expect(outsideOf(Array.from({ length: 12 }, (_, index) => `http://h${index}`))).toMatch(
      /, http:\/\/h9 and 2 more$/,
    );
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
    expect(addressReachOf(address)).toBe(verdict);
  });
});

describe('addressPermitted', () => {
  it('allows a literally named host to be internal, but not link-local or metadata', () => {
    expect(addressPermitted('gpu.corp.example', { isLiteral: true, isOwnPort: false }, '10.0.0.7')).toBe(true);
    expect(addressPermitted('gpu.corp.example', { isLiteral: true, isOwnPort: false }, '169.254.169.254')).toBe(false);
    expect(addressPermitted('gpu.corp.example', { isLiteral: true, isOwnPort: false }, 'fd00:ec2::254')).toBe(false);
    expect(addressPermitted('a.inference.example.com', { isLiteral: false, isOwnPort: false }, '10.0.0.7')).toBe(false);
    expect(addressPermitted('a.inference.example.com', { isLiteral: false, isOwnPort: false }, '8.8.8.8')).toBe(true);
  });
  it('allows localhost to be only loopback, and only if a pattern names loopback', () => {
    const named = { isLiteral: true, isOwnPort: false };
    for (const address of ['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1'])
      expect(addressPermitted('localhost', named, address)).toBe(true);
    for (const address of ['10.0.0.7', '8.8.8.8', '169.254.169.254', '0.0.0.0'])
      expect(addressPermitted('localhost', named, address)).toBe(false);
    expect(addressPermitted('localhost', { ...named, isLiteral: false }, '127.0.0.1')).toBe(false);
    expect(addressPermitted('localhost', { ...named, isOwnPort: true }, '127.0.0.1')).toBe(false);
  });
  it('allows an address to be only itself', () => {
    expect(addressPermitted('169.254.1.1', { isLiteral: true, isOwnPort: false }, '169.254.1.1')).toBe(true);
    expect(addressPermitted('127.0.0.1', { isLiteral: true, isOwnPort: false }, '::ffff:127.0.0.1')).toBe(true);
    expect(addressPermitted('8.8.8.8', { isLiteral: true, isOwnPort: false }, '8.8.4.4')).toBe(false);
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

  const get = async (allow: string[], url: string, resolve?: ResolveHost, ownPorts: number[] = []) => {
    const dispatcher = guardedDispatcher(allow, { resolve, connectTimeoutMs: 2_000, ownPorts });
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

  it('notices a peer that disappears: each connection asks an idle one after 15 s', async () => {
    const asks = jest.spyOn(Socket.prototype, 'setKeepAlive');
    expect(await get(['http://127.0.0.1:*'], `http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect(asks.mock.calls).toEqual([[true, 15_000]]);
    asks.mockRestore();
  });

  it('reaches localhost on loopback if 127.0.0.1 is named, but no other name that resolves to it', async () => {
    const here = ['http://127.0.0.1:*'];
    expect(await get(here, `http://localhost:${port}/`)).toEqual({ status: 200, text: 'hello' });
    expect(await get(here, `http://localhost:${port}/`, to('::1', '127.0.0.1'))).toMatchObject({ status: 200 });
    const before = hits.length;
    await expect(get(here, `http://gpu.corp.example:${port}/`, to('127.0.0.1'))).rejects.toMatchObject(refused);
    await expect(get(here, `http://localhost:${port}/`, to('10.0.0.1'))).rejects.toMatchObject(refused);
    await expect(get(here, `http://localhost:${port}/`, to('127.0.0.1', '8.8.8.8'))).rejects.toMatchObject(refused);
    expect(hits.length).toBe(before);
  });

  it('refuses names and addresses outside the list without connecting', async () => {
    const before = hits.length;
    await expect(get(['http://127.0.0.1:1'], `http://127.0.0.1:${port}/`)).rejects.toMatchObject(refused);
    await expect(get(['http://*:*'], `http://127.0.0.1:${port}/`)).rejects.toMatchObject(refused);
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

  it('refuses the ports of Slipway on every address of this machine, whatever the pattern', async () => {
    const connections: number[] = [];
    const note = (socket: Socket) => connections.push(socket.remotePort ?? 0);
    server.on('connection', note);
    const own = (url: string, allow: string, resolve?: ResolveHost) => get([allow], url, resolve, [1, port]);
    try {
      await expect(own(`http://127.0.0.1:${port}/`, 'http://127.0.0.1:*')).rejects.toMatchObject(refused);
      await expect(own(`http://0.0.0.0:${port}/`, `http://0.0.0.0:${port}`)).rejects.toMatchObject(refused);
      const named = `http://gpu.corp.example:${port}`;
      const loopback = ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'];
      const interfaces = Object.values(networkInterfaces()).flatMap((each) =>
        (each ?? []).map(({ address }) => address),
      );
      for (const address of [...loopback, ...interfaces.filter((one) => !one.startsWith('fe80'))])
        await expect(own(named, named, to(address))).rejects.toMatchObject(refused);
      expect(connections).toEqual([]);
      // The pattern decides about other ports of this machine, and about the same port elsewhere.
      expect(await get([named], named, to('127.0.0.1'), [port + 1])).toMatchObject({ status: 200 });
      expect(addressPermitted('gpu.corp.example', { isLiteral: true, isOwnPort: true }, '8.8.8.8')).toBe(true);
    } finally {
      server.off('connection', note);
    }
  });

  it('connects to the address that was checked, so that a rebinding name is resolved once per connection', async () => {
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

  it('fails with ENOTFOUND if a name has no address', async () => {
    await expect(get(['http://*.example.com:*'], 'http://a.example.com/', async () => [])).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
  });
});

it('an egress allows each tenant the origins that are listed for it', () => {
  let allow: AllowEntry[] = ['https://*:*', { origin: 'http://127.0.0.1:*', tenants: ['acme'] }];
  const egress = new Egress(() => allow);
  expect(egress.permits('acme', 'http://127.0.0.1:9')).toBe(true);
  expect(egress.check('other', 'http://127.0.0.1:9')).toMatchObject({ ok: false, code: 'url_not_allowed' });
  expect(egress.patternsFor('acme', 'http://127.0.0.1:9')).toEqual(['http://127.0.0.1:*']);
  expect([egress.patterns('other'), egress.patternsFor('other', 'http://127.0.0.1:9')]).toEqual([['https://*:*'], []]);
  // The operator may remove an entry.
  allow = ['https://*:*'];
  expect(egress.permits('acme', 'http://127.0.0.1:9')).toBe(false);
});
