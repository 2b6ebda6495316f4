import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, Socket, type AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { request } from 'undici';
import { Egress } from './egress.js';
import { guardedDispatcher, operatorFetch, type ResolveHost } from './guarded-dispatcher.js';
import { proxyFor } from './outbound-proxy.js';

/** A server behind the proxy, which connects everything to it: so addresses of the internet can be used. */
let server: Server;
let proxy: Server;
let proxyUrl: string;
/** The requests to the proxy, and the Host headers that the server received. */
let tunnels: string[];
let hosts: string[];
let authorizations: (string | undefined)[];
/** The status of the proxy's answer for an address; 0 for no answer. */
let statusOf: (authority: string) => number;
let names: (string | false)[];
let tlsServer: ReturnType<typeof createTcpServer>;
let asked: string[];

const portOf = (one: { address(): AddressInfo | string | null }) => (one.address() as AddressInfo).port;

beforeAll(async () => {
  server = createServer((incoming, outgoing) => {
    hosts.push(incoming.headers.host ?? '');
    outgoing.end('hello');
  });
  tlsServer = createTcpServer((socket) => {
    // It needs no certificate: the name has arrived before it would be sent.
    const secure = new TLSSocket(socket, {
      isServer: true,
      SNICallback: (name, done) => {
        names.push(name);
        done(new Error('enough'));
      },
    });
    secure.on('error', () => socket.destroy());
  });
  proxy = createServer((_incoming, outgoing) => outgoing.end('not a proxy'));
  proxy.on('connect', ({ url = '', headers }, socket: Socket) => {
    tunnels.push(url);
    authorizations.push(headers['proxy-authorization']);
    const status = statusOf(url);
    if (status === 0) {
      socket.resume().once('end', () => socket.destroy());
      return;
    }
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const upstream = connect(portOf(url.endsWith(':443') ? tlsServer : server), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on('error', () => [socket, upstream].forEach((one) => one.destroy()));
  });
  for (const one of [server, tlsServer, proxy])
    await new Promise<void>((done) => one.listen(0, '127.0.0.1', () => done()));
  proxyUrl = `http://127.0.0.1:${portOf(proxy)}`;
});
afterAll(async () => {
  for (const one of [server, proxy]) one.closeAllConnections();
  for (const one of [server, tlsServer, proxy]) await new Promise((done) => one.close(done));
});
beforeEach(() => {
  [tunnels, hosts, authorizations, names, asked] = [[], [], [], [], []];
  statusOf = () => 200;
});

const at =
  (...addresses: string[]): ResolveHost =>
  async (host) => {
    asked.push(host);
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
const PUBLIC = ['http://*:*', 'https://*:*'];

async function get(
  url: string,
  resolve: ResolveHost,
  { allow = PUBLIC, through = proxyUrl, none = [] as string[] } = {},
) {
  const dispatcher = guardedDispatcher(allow, {
    resolve,
    connectTimeoutMs: 2_000,
    proxy: { http: through, https: through, none },
  });
  try {
    const answer = await request(url, { dispatcher });
    return { status: answer.statusCode, text: await answer.body.text() };
  } finally {
    await dispatcher.destroy();
  }
}

describe('a call through a proxy', () => {
  it('goes to the checked address, with the name in its Host header, and resolves the name once', async () => {
    expect(await get('http://hooks.example.com/', at('8.8.8.8'))).toEqual({ status: 200, text: 'hello' });
    expect([tunnels, hosts, asked]).toEqual([['8.8.8.8:80'], ['hooks.example.com'], ['hooks.example.com']]);
    expect(await get('http://hooks.example.com:8080/', at('2606:4700::1111'))).toMatchObject({ status: 200 });
    expect(tunnels[1]).toBe('[2606:4700::1111]:8080');
  });

  it('notices a proxy that disappears: each tunnel asks an idle one after 15 s', async () => {
    const asks = jest.spyOn(Socket.prototype, 'setKeepAlive');
    expect(await get('http://hooks.example.com/', at('8.8.8.8'))).toMatchObject({ status: 200 });
    expect(asks.mock.calls).toContainEqual([true, 15_000]);
    asks.mockRestore();
  });

  it('has TLS with the name inside of the tunnel', async () => {
    await expect(get('https://hooks.example.com/', at('8.8.8.8'))).rejects.toThrow();
    expect([tunnels, names]).toEqual([['8.8.8.8:443'], ['hooks.example.com']]);
  });

  it('may be a post, with the same address and name, and with TLS inside of the tunnel', async () => {
    const proxied = { http: proxyUrl, https: proxyUrl, none: [] };
    const egress = new Egress(() => PUBLIC, { resolve: at('8.8.8.8'), connectTimeoutMs: 2_000, proxy: proxied });
    const post = (url: string) =>
      egress.post(PUBLIC).send(url, { headers: {}, body: '{}', signal: new AbortController().signal });
    try {
      const { status, body } = await post('http://hooks.example.com/');
      for await (const chunk of body) expect(String(chunk)).toBe('hello');
      expect([status, tunnels, hosts]).toEqual([200, ['8.8.8.8:80'], ['hooks.example.com']]);
      await expect(post('https://hooks.example.com/')).rejects.toThrow();
      expect([tunnels[1], names]).toEqual(['8.8.8.8:443', ['hooks.example.com']]);
    } finally {
      await egress.onApplicationShutdown();
    }
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['private', ['10.0.0.1']],
    ['metadata', ['168.63.129.16']],
    ['public and loopback mixed', ['8.8.8.8', '127.0.0.1']],
  ])('is refused before it reaches the proxy, if the name leads to %s', async (_what, addresses) => {
    await expect(get('http://hooks.example.com/', at(...addresses))).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
    await expect(get('http://169.254.169.254/', at())).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
    expect(tunnels).toEqual([]);
  });

  it('stays on this machine if the operator allows a name of it: the proxy would call its own', async () => {
    const origin = `http://gpu.corp.example:${portOf(server)}`;
    expect(await get(`${origin}/`, at('127.0.0.1'), { allow: [origin] })).toMatchObject({ status: 200 });
    expect([tunnels, asked]).toEqual([[], ['gpu.corp.example']]);
  });

  it('tries the next address, and reports that the proxy refused', async () => {
    statusOf = (authority) => (authority.startsWith('8.8.8.8') ? 502 : 200);
    expect(await get('http://hooks.example.com/', at('8.8.8.8', '8.8.4.4'))).toMatchObject({ status: 200 });
    expect(tunnels).toEqual(['8.8.8.8:80', '8.8.4.4:80']);
    statusOf = () => 407;
    await expect(get('http://hooks.example.com/', at('8.8.8.8'))).rejects.toMatchObject({ code: 'PROXY_REFUSED' });
  });

  it('leaves time for the next address if the proxy is silent about the first', async () => {
    statusOf = (authority) => (authority.startsWith('8.8.8.8') ? 0 : 200);
    expect(await get('http://hooks.example.com/', at('8.8.8.8', '8.8.4.4'))).toMatchObject({ status: 200 });
  });

  it('has one time limit for the name, the tunnel and TLS together', async () => {
    const slow: ResolveHost = async (host) => {
      await new Promise((done) => setTimeout(done, 1_500));
      return at('8.8.8.8')(host);
    };
    statusOf = () => 0;
    const startedAt = performance.now();
    await expect(get('http://hooks.example.com/', slow)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it('sends the password of the proxy to the proxy only', async () => {
    const through = proxyUrl.replace('http://', 'http://user:p%40ss@');
    await get('http://hooks.example.com/', at('8.8.8.8'), { through });
    expect(authorizations).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`]);
  });

  it('does not happen for hosts that the operator excludes', async () => {
    const origin = `http://gpu.corp.example:${portOf(server)}`;
    await get(`${origin}/`, at('127.0.0.1'), { allow: [origin], none: ['.corp.example'] });
    expect(tunnels).toEqual([]);
  });
});

it('engines are never called through the proxy', async () => {
  const egress = new Egress(() => ['http://*.corp.example:*'], {
    resolve: at('8.8.8.8'),
    connectTimeoutMs: 100,
    proxy: { http: proxyUrl, https: proxyUrl, none: [] },
  });
  const send = (isEngine: boolean) =>
    request('http://gpu.corp.example/', { dispatcher: egress.dispatcher(egress.patterns('acme'), { isEngine }) });
  try {
    const { body } = await send(false);
    expect([await body.text(), tunnels]).toEqual(['hello', ['8.8.8.8:80']]);
    await send(true).then(
      ({ body: direct }) => direct.dump(),
      () => undefined,
    );
    expect(tunnels).toHaveLength(1);
  } finally {
    await egress.onApplicationShutdown();
  }
});

it('a fetch of the operator reaches any address through the proxy', async () => {
  const fetch = operatorFetch({ http: proxyUrl, none: [] }, at('10.0.0.1'));
  expect(await (await fetch('http://idp.corp.example/keys')).text()).toBe('hello');
  expect([tunnels, hosts]).toEqual([['10.0.0.1:80'], ['idp.corp.example']]);
});

it.each([
  ['*', 'a.example.com', true],
  ['example.com', 'example.com', true],
  ['example.com', 'a.example.com', true],
  ['.example.com', 'a.example.com', true],
  ['*.example.com', 'a.example.com', true],
  ['EXAMPLE.com', 'a.example.com', true],
  ['example.com', 'badexample.com', false],
  ['example.com:443', 'example.com', true],
  ['example.com:444', 'example.com', false],
  ['10.0.0.7', '10.0.0.7', true],
  ['10.0.0.7:443', '10.0.0.7', true],
  ['10.0.0.0/8', '10.9.9.9', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.0.0.0/99', '10.0.0.1', false],
  ['fd00::/8', '[fd00::1]', true],
  ['[fd00::1]:443', '[fd00::1]', true],
  ['fd00::1', '[fd00::1]', true],
  ['', 'example.com', false],
  ['.', 'example.com', false],
  ['unrelated', 'localhost', true],
  ['unrelated', '127.0.0.1', true],
  ['unrelated', '[::1]', true],
])('with NO_PROXY %j, %s is called directly: %s', (rule, hostname, isDirect) => {
  const settings = { https: 'http://proxy.example:3128', none: [rule] };
  expect(proxyFor(settings, { protocol: 'https:', hostname, port: 443 }) === undefined).toBe(isDirect);
});

it('a scheme without a proxy is called directly', () => {
  const settings = { https: 'http://proxy.example:3128', none: [] };
  expect(proxyFor(settings, { protocol: 'http:', hostname: 'a.example.com', port: 80 })).toBeUndefined();
});
