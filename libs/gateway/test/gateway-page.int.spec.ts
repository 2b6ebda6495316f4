import { readFileSync } from 'node:fs';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import * as refusals from '../src/gateway.errors.js';
import type { Gateway } from '../src/index.js';
import { INFERENCE_PATHS, READ_PATHS } from '../src/requests/paths.js';
import { DEFAULT_SETTINGS } from '../src/settings.js';
import { ask, type TestAnswer, type TestRequest } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

/** Reads docs/gateway.md as its readers do, and checks a gateway against it. */
const page = readFileSync(new URL('../../../docs/gateway.md', import.meta.url), 'utf8');

/** Returns the rows of the table under a heading, without its head, as texts without back-quotes. */
function tableOf(heading: string): string[][] {
  const section = sectionOf(heading);
  const rows = section.match(/^\|.*\|$/gm)!.slice(2);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`([^`]+)`$/, '$1')),
  );
}

function sectionOf(heading: string): string {
  const section = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(page);
  if (!section) throw new Error(`docs/gateway.md has no heading ${heading}`);
  return section[1]!;
}

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let operator: TestToken;
let engine: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  operator = await installation.token(await installation.tenant('default', true), '1 hour', ['admin']);
  engine = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-00001', [engine], 'sk-upstream');
  await installation.route(tenant, 'chat', { 'chat-00001': 100 });
  await installation.revision(tenant, 'dead', 'dead-00001', []);
  await installation.route(tenant, 'dead', { 'dead-00001': 100 });
  const hold = { max_seconds: 1, estimated_seconds: 100 };
  await installation.route(tenant, 'held', { 'dead-00001': 100 }, undefined, hold);
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation?.destroy();
  await engine?.stop();
});
afterEach(() => {
  engine.behaviour = (request, response) => engine.answer(request, response);
  engine.seen.length = 0;
});

const chat = (asked: TestRequest = {}): Promise<TestAnswer> =>
  ask(gateway, token, { ...asked, body: { model: 'chat', messages: [], ...(asked.body as object) } });

describe('paths', () => {
  it('are served as the page says, with HEAD in addition to GET, and without a token only if the page says so', async () => {
    for (const [method, path, needsToken] of tableOf('Paths') as [string, string, string][]) {
      const url = path.replace('{model}', 'chat');
      const body = { model: 'chat', messages: [], prompt: 'a', input: 'a' };
      const allowed = path === '/metrics' ? operator : token;
      expect([path, (await ask(gateway, allowed, { method, path: url, body })).status]).toEqual([path, 200]);
      const bare = await ask(gateway, null, { method, path: url, body });
      expect([path, bare.status]).toEqual([path, needsToken === 'yes' ? 401 : 200]);
      if (method === 'GET')
        expect([path, (await ask(gateway, allowed, { method: 'HEAD', path: url })).status]).toEqual([path, 200]);
      const wrong = await ask(gateway, allowed, { method: 'PUT', path: url, body });
      expect([path, wrong.status, wrong.body.error.code]).toEqual([path, 405, 'method_not_allowed']);
      const methods = method === 'GET' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
      expect(wrong.headers.get('allow')).toBe(methods);
      const options = await ask(gateway, null, { method: 'OPTIONS', path: url });
      expect([options.status, options.headers.get('allow'), options.text]).toEqual([204, methods, '']);
    }
  });

  it('are all on the page', () => {
    const named = tableOf('Paths').map(([, path]) => path);
    expect(named.filter((path) => path !== '/v1/models/{model}').sort()).toEqual(
      [...INFERENCE_PATHS, ...READ_PATHS].sort(),
    );
  });

  it('are 404 unknown_url for every caller if the page names them as not served', async () => {
    const paths = sectionOf('Not served')
      .match(/(?<=`)\/[^`]*(?=`)/g)!
      .slice(0, -1);
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      for (const [method, who] of [
        ['GET', null],
        ['POST', token],
      ] as const) {
        const answer = await ask(gateway, who, { method, path });
        expect([path, answer.status, answer.body?.error.code]).toEqual([path, 404, 'unknown_url']);
      }
    }
  });
});

describe('a request', () => {
  it('has the members that the page names, and they do what it says', async () => {
    expect(tableOf('The body').map(([name]) => name)).toEqual([
      'model',
      'stream',
      'session_id',
      'prompt_cache_key',
      'user',
      'cache_salt',
    ]);
    const passportOf = async (body: object, headers = {}): Promise<string | null> =>
      (await chat({ body, headers })).headers.get('x-context-passport');
    const named = ['session_id', 'prompt_cache_key', 'user'];
    // The same session under any of these names has the same passport; the first of them wins.
    for (const member of named) expect(await passportOf({ [member]: 's' })).toBe(await passportOf({ session_id: 's' }));
    expect(await passportOf({ user: 'other', prompt_cache_key: 's' })).toBe(await passportOf({ user: 's' }));
    expect(await passportOf({ session_id: 'other' }, { 'x-session-id': 's' })).toBe(await passportOf({ user: 's' }));
    await chat({ body: { session_id: 's', prompt_cache_key: 'k', user: 'u' } });
    expect(engine.seen.at(-1)?.body).toEqual({
      model: 'model-of-chat-00001',
      messages: [],
      prompt_cache_key: 'k',
      user: 'u',
    });
    const saltOf = async (body: object): Promise<unknown> => {
      await chat({ body });
      return engine.seen.at(-1)?.body['cache_salt'];
    };
    expect(await saltOf({ cache_salt: 'mine' })).toMatch(/^[\w-]{43}$/);
    expect(await saltOf({ cache_salt: 'mine' })).not.toBe(await saltOf({ cache_salt: 'other' }));
    expect(await saltOf({})).toBeUndefined();
    expect((await chat({ body: { model: 'nobody' } })).body.error.code).toBe('model_not_found');
  });

  it('has the headers that the page names, and they do what it says', async () => {
    const headers = {
      'X-Request-Id': 'mine',
      'X-Session-Id': 's',
      'X-Forwarded-For': '203.0.113.9',
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      Tracestate: 'a=1',
    };
    expect(
      tableOf('Headers of a request')
        .flatMap(([names]) => names!.replaceAll('`', '').split(', '))
        .sort(),
    ).toEqual(['Authorization', ...Object.keys(headers)].sort());
    const answer = await chat({ headers: { ...headers, cookie: 'a=b', 'x-api-key': 'k', 'x-else': 'of a client' } });
    expect(answer.headers.get('x-request-id')).toBe('mine');
    const { headers: got } = engine.seen.at(-1)!;
    const passed = { accept: 'application/json', traceparent: headers.Traceparent, tracestate: headers.Tracestate };
    expect(got).toMatchObject({ authorization: 'Bearer sk-upstream', ...passed });
    expect(got['x-request-id']).toMatch(/^(?!mine$)\S+$/);
    const kept = /^(cookie|x-api-key|x-session-id|x-forwarded-for|x-else)$/;
    expect(Object.keys(got).filter((name) => kept.test(name))).toEqual([]);
    const own = (await chat({ headers: { 'x-request-id': 'with blank' } })).headers.get('x-request-id');
    expect(own).toMatch(/^\S+$/);
  });

  it('is answered with the headers that the page names, even if none can serve it, or its token or method is wrong', async () => {
    const drawn = await chat({ headers: { 'x-session-id': 'headers' } });
    const dead = await chat({ body: { model: 'dead' } });
    const bare = await ask(gateway, null);
    const wrong = await ask(gateway, token, { method: 'PUT' });
    const unknown = await ask(gateway, token, { path: '/nowhere' });
    const held = await untilPassing(async () => {
      const answer = await chat({ body: { model: 'held' } });
      expect([answer.status, answer.body.error.code]).toEqual([503, 'deployment_restarting']);
      return answer;
    });
    const found: Record<string, TestAnswer[]> = {
      'x-request-id': [drawn, dead, bare, wrong, unknown],
      'x-slipway-revision': [drawn],
      'x-affinity': [drawn],
      'x-slipway-held-ms': [held],
      'x-context-passport': [drawn],
      'retry-after': [dead],
      'www-authenticate': [bare],
      allow: [wrong],
    };
    expect(tableOf('Headers of an answer').map(([name]) => name)).toEqual(Object.keys(found));
    for (const [name, answers] of Object.entries(found))
      for (const answer of answers) expect([name, answer.headers.get(name)]).toEqual([name, expect.any(String)]);
    expect([drawn.headers.get('x-slipway-revision'), dead.status, bare.status]).toEqual(['chat-00001', 503, 401]);
    const affinities = await Promise.all([chat(), chat({ headers: { 'x-session-id': 'headers' } })]);
    expect([drawn, ...affinities].map(({ headers }) => headers.get('x-affinity'))).toEqual(['miss', 'off', 'hit']);
    for (const { headers } of [drawn, ...affinities])
      expect(sectionOf('Headers of an answer')).toContain(`\`${headers.get('x-affinity')}\``);
  });
});

it('a member of the body has the ceiling that the page names', async () => {
  for (const [names, ceiling] of tableOf('Ceilings') as [string, string][]) {
    const most = Number(/^\d+/.exec(ceiling)![0]);
    const fitting = ceiling.includes('KiB') ? 'x'.repeat(most * 1024 - 2) : most;
    const tooMuch = typeof fitting === 'string' ? `${fitting}x` : fitting + 1;
    for (const name of names.replaceAll('`', '').split(', ')) {
      expect([name, (await chat({ body: { [name]: fitting } })).status]).toEqual([name, 200]);
      const { status, body } = await chat({ body: { [name]: tooMuch } });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', name]);
    }
  }
});

it('a stream that breaks says so in one more event, and has no [DONE]', async () => {
  engine.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"model":"model-of-chat-00001","choices":[]}\n\n', () => response.destroy());
  };
  const { port } = gateway;
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', messages: [], stream: true }),
  });
  let text = '';
  const read = async (): Promise<void> => {
    for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
  };
  await expect(read()).rejects.toThrow();
  expect(text).toMatch(
    /^data: \{"model":"chat","choices":\[\]\}\n\ndata: \{"error":\{.*"code":"upstream_error"\}\}\n\n$/,
  );
});

it('the limits are those of the settings', () => {
  const rows = Object.fromEntries(tableOf('Limits').map(([limit, value]) => [limit, value]));
  const settings = DEFAULT_SETTINGS;
  const mib = (bytes: number): number => bytes / 2 ** 20;
  const { token: ofToken, tenant, process } = settings.maxHeldBytes;
  expect(rows).toMatchObject({
    body: `${mib(settings.maxBodyBytes)} MiB`,
    'request line and headers': `${settings.maxHeaderBytes / 1024} KiB`,
    'requests a minute of a token': String(settings.requestsPerMinute),
    'requests in flight of a token': String(settings.maxConcurrencyPerToken),
    'bytes in flight of a token, tenant, process': `${mib(ofToken)}, ${mib(tenant)}, ${mib(process)} MiB`,
    'requests in flight of a process': String(settings.maxConcurrency),
    'waiting requests of a deployment': String(settings.hold.maxRequests),
    'bytes of their bodies': `${mib(settings.hold.maxBytes)} MiB`,
    'until the engine answers': `${settings.headTimeoutMs / 1000} s`,
    'silence within an answer': `${settings.silenceTimeoutMs / 1000} s`,
  });
  expect(settings.limitsOfTenant('any')).toEqual({
    requestsPerMinute: 4 * settings.requestsPerMinute,
    maxConcurrency: 4 * settings.maxConcurrencyPerToken,
  });
  expect(sectionOf('Retries')).toContain(`${['no', 'one', 'two', 'three'][settings.maxAttempts]} attempts in all`);
});

describe('error codes', () => {
  const listed = new Set(tableOf('Error codes').map(([status, code]) => `${status} ${code}`));

  it('contain each refusal of the gateway, and every row is one of them', async () => {
    const made = Object.values(refusals)
      .filter((one) => typeof one === 'function' && one !== refusals.GatewayError && one !== refusals.errorBody)
      .map((make) => (make as (...any: any[]) => refusals.GatewayError)('GET', '1', 'GET'))
      .map(({ status, code }) => `${status} ${code}`);
    const raw = await Promise.all([
      answerTo('nonsense\r\n\r\n'),
      answerTo(`GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(DEFAULT_SETTINGS.maxHeaderBytes)}\r\n\r\n`),
    ]);
    expect([...new Set([...made, ...raw])].sort()).toEqual([...listed].sort());
    expect(tableOf('Error codes').filter(([, , remedy]) => !remedy)).toEqual([]);
  });

  it('contain the code of each limit', () => {
    const codes = tableOf('Limits').flatMap(([, , , beyond]) => beyond!.match(/\d{3} `\w+`/g) ?? []);
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.map((one) => one.replaceAll('`', '')).filter((one) => !listed.has(one))).toEqual([]);
  });
});

/** Resolves with status and code of the server's answer to bytes that are no request. */
function answerTo(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(gateway.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(`${text.split(' ')[1]} ${/"code":"(\w+)"/.exec(text)?.[1]}`));
  });
}
