import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { describeConformance, observeUntil } from '@slipway/target-driver/conformance';
import { EndpointDriver, type EndpointDriverOptions } from './endpoint-driver.js';

/** Somebody's model server: healthy or not, and it remembers who asked. */
async function runningServer() {
  const requests: { url?: string; headers: IncomingHttpHeaders }[] = [];
  const behaviour = { status: 503, location: undefined as string | undefined };
  const server = createServer((incoming, outgoing) => {
    requests.push({ url: incoming.url, headers: incoming.headers });
    if (behaviour.location) outgoing.setHeader('location', behaviour.location);
    outgoing.writeHead(behaviour.status).end('{}');
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

describe('observe', () => {
  it('asks below the base URL, with the credential', async () => {
    server.behaviour.status = 200;
    const spec = specFor(`http://127.0.0.1:${server.port}/gpu/`);
    spec.endpoint!.credential = 'k-1';
    expect(await driver.observe(spec)).toEqual({
      state: 'ready',
      baseUrl: `http://127.0.0.1:${server.port}/gpu`,
      generation: 1,
    });
    expect(server.requests).toMatchObject([{ url: '/gpu/health', headers: { authorization: 'Bearer k-1' } }]);
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

  it('follows no redirect and takes it for unhealthy', async () => {
    Object.assign(server.behaviour, { status: 307, location: `http://127.0.0.1:${server.port}/elsewhere` });
    const seen = await observeUntil(driver, specFor(`http://127.0.0.1:${server.port}`), 'unhealthy');
    expect(seen.message).toBe('the health probe answered 307');
    expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set(['/health']));
  });

  it('sends nothing to an address that the list has ceased to allow', async () => {
    server.behaviour.status = 200;
    const strict = driverFor(['https://*.example.com']);
    expect((await observeUntil(strict, specFor(`http://127.0.0.1:${server.port}`), 'unhealthy')).message).toContain(
      'outside of the target',
    );
    expect(server.requests).toEqual([]);
    await strict.close();
  });

  it('sends nothing, the credential least of all, to a name that leads inside', async () => {
    server.behaviour.status = 200;
    const led = driverFor(['http://*.example.com:*'], { resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    const spec = specFor(`http://a.example.com:${server.port}`);
    spec.endpoint!.credential = 'k-1';
    const seen = await observeUntil(led, spec, 'unhealthy');
    expect(seen.message).toBe('the health probe failed: a.example.com resolves to an address that is not allowed');
    expect(server.requests).toEqual([]);
    await led.close();
  });

  it('is unhealthy when it is not ready in time, whatever the threshold', async () => {
    const patient = { intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 1_000_000 };
    const spec = specFor(`http://127.0.0.1:${server.port}`, { probe: patient, readyTimeoutSeconds: 0.05 });
    expect((await driver.observe(spec)).state).toBe('starting');
    await observeUntil(driver, spec, 'unhealthy');
  });
});

describe('check', () => {
  it.each([
    ['https://127.0.0.1', 'not_allowed'],
    ['http://localhost:8000', 'not_allowed'],
    ['http://169.254.169.254', 'not_allowed'],
    ['http://u:p@127.0.0.1', 'not_allowed'],
    ['file:///etc/passwd', 'not_allowed'],
    ['http://127.1:80', 'invalid_value'],
    ['http://127.0.0.1/v1?x=1', 'invalid_value'],
    ['127.0.0.1:8000', 'invalid_value'],
  ])('refuses %s', (baseUrl, code) => {
    expect(driver.check(specFor(baseUrl))).toMatchObject([{ field: 'endpoint.base_url', code }]);
  });

  it('names everything that does not fit a target that starts nothing', () => {
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

it('refuses a target whose patterns are none, naming each', () => {
  expect(() => driverFor(['http://127.0.0.1:*', '*.example.com', 'ftp://x'])).toThrow(
    expect.objectContaining({
      name: 'TargetConfigError',
      problems: [expect.stringContaining('"*.example.com"'), expect.stringContaining('"ftp://x"')],
    }),
  );
});
