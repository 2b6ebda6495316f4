import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { describeConformance, observeUntil } from '@slipway/target-driver/conformance';
import { EndpointDriver, type EndpointDriverOptions } from './endpoint-driver.js';

/** A model server that already runs. It is healthy or not, and records its requests. */
async function runningServer() {
  const requests: { url?: string; headers: IncomingHttpHeaders }[] = [];
  const behaviour = {
    status: 503,
    location: undefined as string | undefined,
    body: '{}',
    isSilent: false,
    /** Answers of single paths, which override the others. */
    at: {} as Record<string, { status: number; body?: string }>,
  };
  const server = createServer((incoming, outgoing) => {
    requests.push({ url: incoming.url, headers: incoming.headers });
    if (behaviour.location) outgoing.setHeader('location', behaviour.location);
    if (behaviour.isSilent) return;
    const own = behaviour.at[incoming.url ?? ''];
    outgoing.writeHead(own?.status ?? behaviour.status).end(own?.body ?? behaviour.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { requests, behaviour, stop, port: (server.address() as AddressInfo).port };
}

const specFor = (baseUrl: string, overrides: Partial<InstanceSpec> = {}): InstanceSpec => ({
  instanceId: 'inst_1',
  generation: 1,
  model: { id: 'tiny' },
  runtime: { args: {}, env: {} },
  endpoint: { baseUrl, healthPath: '/health' },
  probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 },
  ...overrides,
});

describeConformance('EndpointDriver', {
  adopts: true,
  restarts: 'caller',
  probes: 'look',
  outlivesHost: true,
  create: async () => {
    const server = await runningServer();
    return {
      newDriver: () => new EndpointDriver({ name: 'adopted', kind: 'endpoint', allow: ['http://127.0.0.1:*'] }),
      spec: (overrides) => specFor(`http://127.0.0.1:${server.port}`, overrides),
      setHealthy: async (isHealthy) => void (server.behaviour.status = isHealthy ? 200 : 503),
      starts: async () => 0,
      crash: () => server.stop(),
      dispose: () => server.stop(),
    };
  },
});

let server: Awaited<ReturnType<typeof runningServer>>;
let driver: EndpointDriver;
const driverFor = (allow: string[], options?: EndpointDriverOptions) =>
  new EndpointDriver({ name: 'adopted', kind: 'endpoint', allow }, options);
beforeEach(async () => {
  server = await runningServer();
  driver = driverFor(['http://127.0.0.1:*']);
});
afterEach(async () => {
  await driver.close();
  await server.stop();
});

describe('EndpointDriver.observe', () => {
  it('requests the health path below the base URL, with the credential', async () => {
    server.behaviour.status = 200;
    const spec = specFor(`http://127.0.0.1:${server.port}/gpu/`);
    spec.endpoint!.credential = 'k-1';
    expect(await driver.observe(spec)).toEqual({
      state: 'ready',
      baseUrl: `http://127.0.0.1:${server.port}/gpu`,
      generation: 1,
    });
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/gpu/health', 'Bearer k-1'],
      ['/gpu/v1/models', 'Bearer k-1'],
    ]);
  });

  it.each([
    ['/v1', undefined, '/health', ['/health', '/v1/models']],
    ['/llm/v1/', undefined, '/health', ['/llm/health', '/llm/v1/models']],
    ['/v1beta/openai', undefined, '/health', ['/health', '/v1beta/openai/models']],
    ['', '/openai', '/health', ['/health', '/openai/models']],
    ['/v1', '/api/v3', '/ready', ['/ready', '/api/v3/models']],
  ])('finds health and models of a server at %s with the API path %s', async (path, apiPath, healthPath, expected) => {
    server.behaviour.status = 200;
    const spec = specFor(`http://127.0.0.1:${server.port}${path}`);
    await driver.observe({ ...spec, endpoint: { ...spec.endpoint!, apiPath, healthPath } });
    expect(server.requests.map(({ url }) => url)).toEqual(expected);
  });

  it('takes a health path below the base URL, if the server has none at its root', async () => {
    Object.assign(server.behaviour, { status: 404, at: { '/v1/models': { status: 200 } } });
    const spec = specFor(`http://127.0.0.1:${server.port}/v1`);
    spec.endpoint!.healthPath = '/models';
    expect((await driver.observe(spec)).state).toBe('ready');
    server.behaviour.at = {};
    expect((await driver.observe(spec)).message).toContain(
      `:${server.port}/models returned 404: set endpoint.health_path`,
    );
  });

  it('prefers the path of the probe', async () => {
    server.behaviour.status = 200;
    await driver.observe(
      specFor(`http://127.0.0.1:${server.port}`, {
        probe: { path: '/alive', intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 },
      }),
    );
    expect(server.requests[0].url).toBe('/alive');
  });

  it('does not follow a redirect, and reports unhealthy', async () => {
    Object.assign(server.behaviour, { status: 307, location: `http://127.0.0.1:${server.port}/elsewhere` });
    const seen = await observeUntil(driver, specFor(`http://127.0.0.1:${server.port}`), 'unhealthy');
    expect(seen.message).toBe(
      `http://127.0.0.1:${server.port}/health returned 307, and redirects are not followed: set endpoint.base_url to the address of the server itself`,
    );
    expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set(['/health']));
  });

  it('sends nothing to an address that the list no longer allows', async () => {
    server.behaviour.status = 200;
    const strict = driverFor(['https://*.example.com']);
    // Unhealthy at the first observation: no time for a start passes.
    expect(await strict.observe(specFor(`http://127.0.0.1:${server.port}`))).toMatchObject({
      state: 'unhealthy',
      reason: 'not_allowed',
      message: expect.stringContaining('outside of the target'),
    });
    expect(server.requests).toEqual([]);
    await strict.close();
  });

  it('refuses a name that leads to loopback when it is named, but none that cannot be resolved or that is allowed', async () => {
    const at = (address: string) => ({ resolve: async () => [{ address, family: 4 }] });
    const [wide, url] = [['http://*.example.com:*'], 'http://a.example.com:80'];
    const messageOf = (allow: string[], options: EndpointDriverOptions) => driverFor(allow, options).checkName(url, '');
    expect(await messageOf(wide, at('127.0.0.1'))).toMatch(/a\.example\.com resolves to an address/);
    expect(await messageOf(wide, at('8.8.8.8'))).toBeUndefined();
    expect(await messageOf([url], at('127.0.0.1'))).toBeUndefined();
    expect(await messageOf(wide, { resolve: () => Promise.reject(new Error('ENOTFOUND')) })).toBeUndefined();
    expect(await messageOf(['http://other.example:*'], at('127.0.0.1'))).toBeUndefined();
  });

  it('sends nothing, and no credential, to a name that resolves to an internal address', async () => {
    server.behaviour.status = 200;
    const led = driverFor(['http://*.example.com:*'], { resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    const spec = specFor(`http://a.example.com:${server.port}`);
    spec.endpoint!.credential = 'k-1';
    const seen = await observeUntil(led, spec, 'unhealthy');
    expect(seen.message).toBe(
      `http://a.example.com:${server.port}/health: a.example.com resolves to an address that is not allowed`,
    );
    expect(server.requests).toEqual([]);
    await led.close();
  });

  it('reports unhealthy if a server is not ready in time, whatever the threshold', async () => {
    const patient = { intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 1_000_000 };
    const spec = specFor(`http://127.0.0.1:${server.port}`, { probe: patient, readyTimeoutSeconds: 2 });
    expect((await driver.observe(spec)).state).toBe('starting');
    await observeUntil(driver, spec, 'unhealthy');
  });
});

describe('messages of the endpoint driver about a missing or differently described server', () => {
  const look = (spec: InstanceSpec) => driver.observe(spec);
  const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;

  it('name the requested URL, and the field to change', async () => {
    const told = async (status: number, change: (spec: InstanceSpec) => void = () => undefined) => {
      server.behaviour.status = status;
      const spec = specFor(at(''));
      change(spec);
      return (await look(spec)).message;
    };
    expect(await told(404)).toBe(`${at('/health')} returned 404: set endpoint.health_path to a path that returns 200`);
    expect(await told(404, (spec) => (spec.probe.path = '/alive'))).toBe(
      `${at('/alive')} returned 404: set probes.path to a path that returns 200`,
    );
    expect(await told(401)).toBe(
      `${at('/health')} returned 401: endpoint.credential_ref must name a secret that the server accepts`,
    );
    expect(await told(503)).toBe(`${at('/health')} returned 503`);
    expect((await told(500, (spec) => (spec.endpoint!.healthPath = `/${'x'.repeat(900)}`)))!.length).toBeLessThan(230);
  });

  it('name the address and the cause in plain words if no answer arrived', async () => {
    await server.stop();
    const refused = await look(specFor(at('')));
    expect(refused).toMatchObject({ state: 'starting', reason: 'loading' });
    expect(refused.message).toBe(`${at('/health')}: the connection was refused: nothing listens there`);
    const unknown = driverFor(['http://*.example.com:*'], {
      resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    });
    expect((await unknown.observe(specFor('http://a.example.com:81'))).message).toBe(
      'http://a.example.com:81/health: the host name does not exist',
    );
    await unknown.close();
    server = await runningServer();
    const tls = driverFor(['https://127.0.0.1:*']);
    expect((await tls.observe(specFor(`https://127.0.0.1:${server.port}`))).message).toMatch(/\/health: TLS failed \(/);
    await tls.close();
  });

  it('report a start that took too long, by a clock that no one can set', async () => {
    server.behaviour.status = 503;
    const probe = { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 1_000 };
    const spec = specFor(at(''), { probe, instanceId: 'inst_slow' });
    expect(await look(spec)).toMatchObject({ state: 'starting' });
    const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 7 * 86_400_000);
    expect(await look(spec)).toMatchObject({ state: 'starting' });
    wall.mockRestore();
    const running = performance.now();
    const time = jest.spyOn(performance, 'now').mockReturnValue(running + 7 * 86_400_000);
    expect(await look(spec)).toMatchObject({ state: 'unhealthy', reason: 'start_timeout' });
    time.mockRestore();
  });

  it('report a missing health path after three 404 answers at the pace of the probes, and after no other answer', async () => {
    const pace = { intervalSeconds: 0.05, timeoutSeconds: 2, failureThreshold: 1_000 };
    const spec = specFor(at(''), { probe: pace, instanceId: 'inst_404' });
    server.behaviour.status = 404;
    const quick = specFor(at(''), { probe: { ...pace, intervalSeconds: 3_600 }, instanceId: 'inst_quick' });
    for (let looks = 0; looks < 10; looks += 1) expect((await look(quick)).state).toBe('starting');
    const seen = await observeUntil(driver, spec, 'unhealthy');
    expect(seen).toMatchObject({
      reason: 'health_path_missing',
      message: expect.stringContaining('/health returned 404'),
    });
    server.behaviour.status = 503;
    expect(await look(spec)).toMatchObject({ state: 'starting', reason: 'loading' });
    server.behaviour.status = 200;
    expect((await look(spec)).state).toBe('ready');
    // A server that was ready has a health path, so a 404 is only a miss.
    server.behaviour.status = 404;
    expect((await look(spec)).state).toBe('ready');
  });
});

const listing = (...ids: string[]) => ({
  status: 200,
  body: JSON.stringify({ object: 'list', data: ids.map((id) => ({ id })) }),
});
const local = (change: Partial<InstanceSpec> = {}) => specFor(`http://127.0.0.1:${server.port}`, change);
const paths = () => server.requests.splice(0).map(({ url }) => url);

describe('a server without /health', () => {
  beforeEach(() => void Object.assign(server.behaviour, { status: 404, at: { '/v1/models': listing('tiny') } }));

  it('is healthy by its list of models, with a message, and gets no other request from then on', async () => {
    expect(await driver.observe(local())).toMatchObject({
      state: 'ready',
      message: `it has no /health: the health probe uses GET http://127.0.0.1:${server.port}/v1/models instead`,
    });
    expect(paths()).toEqual(['/health', '/v1/models']);
    expect((await driver.observe(local())).state).toBe('ready');
    expect(await driver.answers(local(), `http://127.0.0.1:${server.port}`)).toBe(true);
    expect(paths()).toEqual(['/v1/models', '/v1/models']);
  });

  it('is unhealthy if its list fails, and then gets requests for /health again', async () => {
    await driver.observe(local());
    server.behaviour.at['/v1/models'] = { status: 500 };
    expect((await driver.observe(local())).message).toBe(`GET http://127.0.0.1:${server.port}/v1/models returned 500`);
    expect(await driver.observe(local())).toMatchObject({ state: 'unhealthy', reason: 'probe_failed' });
    server.behaviour.at['/health'] = { status: 200 };
    paths();
    expect((await driver.observe(local())).state).toBe('ready');
    expect(paths()[0]).toBe('/health');
  });

  it.each([
    ['has no list either', { status: 404 }],
    ['answers something else', { status: 200, body: '{}' }],
  ])('is not healthy by its list if it %s', async (_what, answer) => {
    server.behaviour.at['/v1/models'] = answer;
    expect((await driver.observe(local())).message).toContain('/health returned 404: set endpoint.health_path');
  });

  it('must answer 404 there: any other error counts as unhealthy, whatever the list says', async () => {
    for (const status of [401, 405, 500, 503]) {
      server.behaviour.at['/health'] = { status };
      expect((await driver.observe(local())).state).not.toBe('ready');
    }
    expect(new Set(paths())).toEqual(new Set(['/health']));
  });

  it('gets requests only for the path that the operator or the client has named', async () => {
    const named = local();
    named.endpoint!.healthPath = '/alive';
    expect((await driver.observe(named)).state).toBe('starting');
    expect((await driver.observe(local({ probe: { ...local().probe, path: '/health' } }))).state).not.toBe('ready');
    expect(new Set(paths())).toEqual(new Set(['/alive', '/health']));
  });
});

describe('a server whose model is swapped', () => {
  const CHANGED = { state: 'unhealthy', reason: 'model_changed' };
  const seenBefore = (change: Partial<InstanceSpec> = {}) => {
    const spec = local(change);
    return { ...spec, endpoint: { ...spec.endpoint!, isModelSeen: true } };
  };
  /** Observes until the next round of probes. */
  const nextRound = (spec: InstanceSpec, state: 'ready' | 'unhealthy') => observeUntil(driver, spec, state);
  beforeEach(() => void Object.assign(server.behaviour, { status: 200, at: { '/v1/models': listing('tiny:latest') } }));

  it('is observed with its model, then with another one, and is ready again with its model', async () => {
    expect(await driver.observe(local())).toMatchObject({ state: 'ready', isModelSeen: true });
    server.behaviour.at['/v1/models'] = listing('large', 'other');
    const seen = await nextRound(seenBefore(), 'unhealthy');
    expect(seen).toMatchObject({ ...CHANGED, message: 'the server has another model now: it has large, other' });
    // An answer without a list changes nothing.
    server.behaviour.at['/v1/models'] = { status: 500 };
    paths();
    const until = performance.now() + 5_000;
    while (!server.requests.some(({ url }) => url === '/v1/models') && performance.now() < until)
      expect(await driver.observe(seenBefore())).toMatchObject(CHANGED);
    expect(paths()).toContain('/v1/models');
    expect(await driver.observe(seenBefore())).toMatchObject(CHANGED);
    server.behaviour.at['/v1/models'] = listing('large', 'tiny');
    expect(await nextRound(seenBefore(), 'ready')).toMatchObject({ isModelSeen: true });
  });

  it('is also unhealthy for a worker that never observed its model', async () => {
    server.behaviour.at['/v1/models'] = listing('large');
    expect(await driver.observe(seenBefore())).toMatchObject(CHANGED);
  });

  it('stays changed for the next worker, whatever it no longer reports, until it shows its model', async () => {
    const changed = seenBefore();
    changed.endpoint = { ...changed.endpoint, modelChange: 'it has large' };
    for (const list of [listing(), listing('openai/*'), { status: 404 }]) {
      server.behaviour.at['/v1/models'] = list;
      expect(await driver.observe(changed)).toMatchObject({ ...CHANGED, message: 'it has large' });
    }
    for (const status of [500, 404]) {
      server.behaviour.status = status;
      const fresh = { ...changed, instanceId: `inst_${status}` };
      expect(await driver.observe(fresh)).toMatchObject(CHANGED);
      expect(await nextRound(changed, 'unhealthy')).toMatchObject(CHANGED);
    }
    Object.assign(server.behaviour, { status: 200, at: { '/v1/models': listing('tiny') } });
    expect(await nextRound(changed, 'ready')).toMatchObject({ isModelSeen: true });
  });

  it.each([
    ['never named it', listing('/models/tiny.gguf')],
    ['names patterns', listing('openai/*')],
    ['names nothing', listing()],
    ['is not there', { status: 404 }],
  ])('keeps its state if its list %s', async (what, list) => {
    server.behaviour.at['/v1/models'] = list;
    const seen = await driver.observe(what === 'never named it' ? local() : seenBefore());
    expect(seen.state).toBe('ready');
    expect(seen.isModelSeen).toBeUndefined();
  });

  it('is checked at most twice a second, however often it is observed, and less often if it reports nothing', async () => {
    for (let look = 0; look < 10; look += 1) await driver.observe(local());
    expect(paths().filter((path) => path === '/v1/models')).toHaveLength(1);
    server.behaviour.at['/v1/models'] = { status: 404 };
    const silent = local({ instanceId: 'inst_2' });
    const until = performance.now() + 2_500;
    while (performance.now() < until) await driver.observe(silent);
    // After 1 s, and then after 2 s.
    expect(paths().filter((path) => path === '/v1/models')).toHaveLength(2);
  });

  it('is checked as its profile says, from the first observation on', async () => {
    const proof = { path: '/info', field: 'model_id', equals: '{model.id}' };
    const profiled = new EndpointDriver({
      name: 'adopted',
      kind: 'endpoint',
      allow: ['http://127.0.0.1:*'],
      profile: { unknown_model: 'ignores', identity: ['response_model', proof] },
    });
    server.behaviour.at['/info'] = { status: 200, body: '{"model_id":"other"}' };
    expect(await profiled.observe(local())).toMatchObject({
      ...CHANGED,
      message: 'the server has another model now: model_id of GET /info has changed',
    });
    server.behaviour.at['/info'] = { status: 200, body: '{"model_id":"tiny"}' };
    await observeUntil(profiled, local(), 'ready');
    expect(paths()).not.toContain('/v1/models');
    await profiled.close();
  });
});

describe('EndpointDriver.models', () => {
  const ask = (change: (spec: InstanceSpec) => void = () => undefined) => {
    const spec = specFor(`http://127.0.0.1:${server.port}`);
    spec.endpoint!.credential = 'k-1';
    change(spec);
    return driver.models(spec);
  };
  const list = (...ids: unknown[]) => JSON.stringify({ object: 'list', data: ids.map((id) => ({ id })) });

  it('requests the list once, with the credential, below a base URL with or without /v1', async () => {
    Object.assign(server.behaviour, { status: 200, body: list('tiny', 'large', 'tiny') });
    expect(await ask()).toEqual({ names: ['tiny', 'large'] });
    await ask((spec) => (spec.endpoint!.baseUrl += '/v1/'));
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual(
      Array(2).fill(['/v1/models', 'Bearer k-1']),
    );
  });

  it.each([
    ['{}', /^GET http.*\/v1\/models did not return a list of models$/],
    ['null', /^GET http.*\/v1\/models did not return a list of models$/],
    ['not json', /^GET http.*\/v1\/models did not return a list of models$/],
    [' '.repeat(1024 * 1024 + 1), /^its list of models is too long$/],
  ])('returns unknown for a server that answers %.20j', async (body, unknown) => {
    Object.assign(server.behaviour, { status: 200, body });
    expect(await ask()).toEqual({ unknown: expect.stringMatching(unknown) });
  });

  it('returns only names, and none that contains the credential', async () => {
    Object.assign(server.behaviour, { status: 200, body: list('tiny', 7, null, { id: 'x' }, 'got Bearer k-1') });
    expect(await ask()).toEqual({ names: ['tiny'] });
    server.behaviour.body = '{"data":[{"id":"x","aliases":["tiny"],"root":"/m/x.gguf"}]}';
    expect(await ask()).toEqual({ names: ['x', 'tiny', '/m/x.gguf'] });
    server.behaviour.body = '{"data":[null,"x",{"id":"tiny"}]}';
    expect(await ask()).toEqual({ names: ['tiny'] });
  });

  it('returns unknown within the time of one probe if a server has no list, redirects, is silent or is absent', async () => {
    server.behaviour.status = 404;
    const url = `GET http://127.0.0.1:${server.port}/v1/models`;
    expect(await ask()).toEqual({ unknown: `${url} returned 404` });
    Object.assign(server.behaviour, { status: 302, location: `http://127.0.0.1:${server.port}/elsewhere` });
    expect(await ask()).toEqual({ unknown: `${url} returned 302` });
    server.behaviour.isSilent = true;
    expect(await ask((spec) => (spec.probe.timeoutSeconds = 0.1))).toEqual({
      unknown: `${url}: no response within 0.1 s`,
    });
    expect(server.requests).toHaveLength(3);
    await server.stop();
    expect(await ask()).toEqual({ unknown: `${url}: the connection was refused: nothing listens there` });
    server = await runningServer();
  });

  it('sends no request to an address that the list no longer allows', async () => {
    const strict = driverFor(['https://*.example.com']);
    expect(await strict.models(specFor(`http://127.0.0.1:${server.port}`))).toEqual({
      unknown: expect.stringContaining('endpoint.base_url is outside'),
    });
    expect(server.requests).toEqual([]);
    await strict.close();
  });
});

describe('EndpointDriver.check', () => {
  it('shows the allowed addresses of this tenant, and none of others', () => {
    const given = new EndpointDriver({
      name: 'adopted',
      kind: 'endpoint',
      allow: ['https://*.example.com', { origin: 'http://secret.host', tenants: ['other'] }],
    });
    expect(given.check(specFor('http://10.0.0.1', { tenantName: 'acme' }))).toMatchObject([
      { message: "is outside of the target's allow list: https://*.example.com" },
    ]);
  });

  it('accepts localhost if loopback is allowed', () => {
    expect(driver.check(specFor('http://localhost:8000'))).toEqual([]);
  });

  it.each([
    ['https://127.0.0.1', 'not_allowed'],
    ['https://localhost:8000', 'not_allowed'],
    ['http://a.localhost:8000', 'not_allowed'],
    ['http://169.254.169.254', 'not_allowed'],
    ['http://u:p@127.0.0.1', 'not_allowed'],
    ['file:///etc/passwd', 'not_allowed'],
    ['http://127.1:80', 'invalid_value'],
    ['http://127.0.0.1/v1?x=1', 'invalid_value'],
    ['127.0.0.1:8000', 'invalid_value'],
  ])('refuses %s', (baseUrl, code) => {
    expect(driver.check(specFor(baseUrl))).toMatchObject([{ field: 'endpoint.base_url', code }]);
  });

  it('names every field that a target without engines cannot use', () => {
    const spec = specFor('http://127.0.0.1', { runtime: { engine: 'sim', args: { a: 1 }, env: { B: 'x' } } });
    expect(driver.check(spec).map(({ field, code }) => [field, code])).toEqual([
      ['runtime.engine', 'not_applicable'],
      ['runtime.args.a', 'not_applicable'],
      ['runtime.env.B', 'not_applicable'],
    ]);
    expect(driver.check({ ...specFor('x'), endpoint: undefined })).toMatchObject([
      { field: 'endpoint', code: 'required' },
    ]);
    const odd = specFor('http://127.0.0.1');
    odd.endpoint = { baseUrl: 'http://127.0.0.1', healthPath: 'health', credential: 'a\r\nX-Evil: 1' };
    expect(driver.check(odd).map(({ field }) => field)).toEqual(['endpoint.health_path', 'endpoint.credential_ref']);
  });
});

it('refuses a target with invalid patterns, and names each', () => {
  expect(() => driverFor(['http://127.0.0.1:*', '*.example.com', 'ftp://x'])).toThrow(
    expect.objectContaining({
      name: 'TargetConfigError',
      problems: [expect.stringContaining('"*.example.com"'), expect.stringContaining('"ftp://x"')],
    }),
  );
});

it('adopts by the new list from the next observation after a new configuration, and refuses an invalid pattern', async () => {
  server.behaviour.status = 200;
  const spec = specFor(`http://127.0.0.1:${server.port}`);
  expect((await driver.observe(spec)).state).toBe('ready');
  const commit = driver.reconfigure({ name: 'adopted', kind: 'endpoint', allow: ['https://*.example.com'] });
  expect((await driver.observe(spec)).state).toBe('ready');
  commit();
  expect(await driver.observe(spec)).toMatchObject({ state: 'unhealthy', reason: 'not_allowed' });
  expect(() => driver.reconfigure({ name: 'adopted', kind: 'endpoint', allow: ['nonsense'] })).toThrow('allow pattern');
});
