import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';
import { CliError } from '../exit-codes.js';
import { findingsOf, type Check, type Finding, type Surroundings } from './check.js';
import { CONFIGURATION_CHECKS, PROGRAMS } from './configuration-checks.js';
import { HOST_CHECKS, nodeVersion } from './host-checks.js';
import { clockFound, SERVER_CHECKS } from './server-checks.js';
import { redisFound, STORE_CHECKS } from './store-checks.js';

let folder: string;
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-doctor-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  servers.pop();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
/** Accepts connections and never answers. */
const silent = () => createServer((socket) => void socket.on('error', () => undefined).resume());
const answering = (body: string, status = 200) =>
  createHttpServer((_request, response) => response.writeHead(status).end(body));

/** Sends this text repeatedly to every client. */
const endless = (text: string, head = '') =>
  createServer((socket) => {
    const go = () => {
      while (socket.writable && socket.write(text.repeat(100)));
    };
    socket
      .on('error', () => undefined)
      .on('drain', go)
      .resume();
    socket.write(head);
    go();
  });

const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  env: {},
  cwd: folder,
  apiUrl: 'http://127.0.0.1:9',
  isLocal: true,
  isRunning: false,
  fetch: globalThis.fetch,
  client: () => Promise.reject(new CliError('Not logged in.')),
  ...more,
});
const { signal } = new AbortController();
async function found(checks: readonly Check[], name: string, more: Partial<Surroundings> = {}, limitMs = 20_000) {
  const chosen = checks.filter((check) => check.name === name);
  const [finding] = await findingsOf(chosen, around(more), { signal, limitMs });
  return finding as Finding;
}

it('the versions of Node that the product runs on', () => {
  const verdicts = ['18.20.0', '20.18.9', '20.19.0', '22.12.0', '22.13.1', '23.1.0', '24.11.0', '25.0.0'].map(
    (version) => nodeVersion(version).verdict,
  );
  expect(verdicts).toEqual(['fault', 'fault', 'ok', 'fault', 'ok', 'fault', 'ok', 'ok']);
});

it("a clock that differs from the server's, as precisely as a header can show", () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  expect(clockFound(at, at, at + 900).verdict).toBe('ok');
  expect(clockFound(at, at - 4_000, at - 3_000).verdict).toBe('ok');
  expect(clockFound(at, at - 11_000, at - 10_000)).toMatchObject({
    verdict: 'warning',
    message: "it is 10 s behind the server's clock",
  });
  expect(clockFound(at, at + 61_000, at + 62_000)).toMatchObject({
    verdict: 'fault',
    message: "it is 60 s ahead of the server's clock",
    remedy: expect.stringContaining('timedatectl'),
  });
});

describe('ports', () => {
  it('a port of another program is a fault with a remedy; a free port is none', async () => {
    const taken = await portOf(answering('hello'));
    const other = await found(HOST_CHECKS, 'api port', { env: { SLIPWAY_API_PORT: String(taken) } });
    expect(other).toMatchObject({ verdict: 'fault', remedy: `SLIPWAY_API_PORT=${taken + 10} npm start` });
    const free = await found(HOST_CHECKS, 'api port', { env: { SLIPWAY_API_PORT: String(await freePort()) } });
    expect(free.verdict).toBe('ok');
    expect((await found(HOST_CHECKS, 'gateway port', { env: { SLIPWAY_GATEWAY_PORT: '70800' } })).verdict).toBe(
      'fault',
    );
    expect((await found(HOST_CHECKS, 'gateway port', { isLocal: false })).verdict).toBe('skipped');
  });

  it('a port of Slipway itself is no fault', async () => {
    const port = await portOf(answering('{"status":"ok"}'));
    const finding = await found(HOST_CHECKS, 'api port', { env: { SLIPWAY_API_PORT: String(port) } });
    expect(finding).toMatchObject({ verdict: 'ok', message: expect.stringContaining('Slipway listens') });
  });

  it('are those that the stack uses, not those of the settings', async () => {
    const [api, gateway] = [await portOf(answering('{"status":"ok"}')), await portOf(answering('{"status":"ok"}'))];
    const other = await portOf(answering('hello'));
    const env = { SLIPWAY_API_PORT: String(other), SLIPWAY_GATEWAY_PORT: String(other) };
    const stack = { env, apiUrl: `http://127.0.0.1:${api}`, gatewayUrl: `http://127.0.0.1:${gateway}` };
    for (const [name, port] of [
      ['api port', api],
      ['gateway port', gateway],
    ] as const)
      expect(await found(HOST_CHECKS, name, stack)).toMatchObject({
        verdict: 'ok',
        message: `Slipway listens on 127.0.0.1:${port}`,
      });
    const gone = { ...stack, isRunning: true, gatewayUrl: `http://127.0.0.1:${await freePort()}` };
    expect(await found(HOST_CHECKS, 'gateway port', gone)).toMatchObject({ verdict: 'fault', remedy: 'npm start' });
  });
});

describe('the gateway', () => {
  it.each([
    ['one that is ready', '{"status":"ok"}', 200, 'ok', 'is ready'],
    ['another server', 'hello', 200, 'fault', 'is not a gateway of Slipway'],
    ['one without routes', '{"error":{"message":"No routes yet."}}', 503, 'fault', 'No routes yet.'],
  ])('%s', async (_what, body, status, verdict, message) => {
    const gatewayUrl = `http://127.0.0.1:${await portOf(answering(body, status))}`;
    const finding = await found(SERVER_CHECKS, 'gateway', { gatewayUrl });
    expect(finding).toMatchObject({ verdict, message: expect.stringContaining(message) });
  });

  it('that does not respond is a fault, except one that only its own machine can reach', async () => {
    const gatewayUrl = `http://127.0.0.1:${await freePort()}`;
    expect(await found(SERVER_CHECKS, 'gateway', { gatewayUrl })).toMatchObject({ verdict: 'fault' });
    const away = await found(SERVER_CHECKS, 'gateway', { gatewayUrl, isLocal: false });
    expect(away).toMatchObject({ verdict: 'warning', remedy: expect.stringContaining('SLIPWAY_GATEWAY_URL') });
    expect((await found(SERVER_CHECKS, 'gateway')).verdict).toBe('skipped');
  });

  it('is found by the file of the stack, or by the answer of the api', async () => {
    const gateway = await portOf(answering('{"status":"ok"}'));
    const told = JSON.stringify({ status: 'ok', gateway_url: `http://127.0.0.1:${gateway}` });
    const api = await portOf(answering(told));
    const env = { SLIPWAY_URL: `http://127.0.0.1:${api}/api/v1/`, PATH: folder };
    const { stdout } = await runCommand(['doctor', '-o', 'json'], { env });
    const findings = JSON.parse(stdout) as Finding[];
    const messageOf = (name: string) => findings.find(({ check }) => check === name)?.message;
    expect(['api', 'gateway', 'api port', 'gateway port'].map(messageOf)).toEqual([
      `http://127.0.0.1:${api} is ready`,
      `http://127.0.0.1:${gateway} is ready`,
      `Slipway listens on 127.0.0.1:${api}`,
      `Slipway listens on 127.0.0.1:${gateway}`,
    ]);
    const home = path.join(folder, '.slipway');
    mkdirSync(path.join(home, 'run'), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(home, 'bootstrap-token'), `slw_local_${'x'.repeat(40)}`, { mode: 0o600 });
    for (const [name, port] of [
      ['api', api],
      ['gateway', gateway],
    ] as const)
      writeFileSync(path.join(home, 'run', `${name}-url`), `http://127.0.0.1:${port}\n`, { mode: 0o600 });
    const stack = { SLIPWAY_HOME: home, SLIPWAY_URL: '', SLIPWAY_TOKEN: '', PATH: folder };
    const ofStack = await runCommand(['doctor'], { env: stack });
    expect(ofStack.stdout).toContain(`Slipway listens on 127.0.0.1:${gateway}\n`);
  });
});

describe('the server at the address of the api', () => {
  it.each([
    ['nothing', undefined, 200, 'warning', 'no response from'],
    ['something else', 'hello', 200, 'fault', 'is not Slipway'],
    [
      'an api without its database',
      '{"error":{"message":"The database does not respond."}}',
      503,
      'fault',
      'The database',
    ],
    ['an endless answer', 'x'.repeat(100_000), 200, 'fault', 'is not Slipway'],
  ])('%s', async (_what, body, status, verdict, message) => {
    const port = body === undefined ? await freePort() : await portOf(answering(body, status));
    const finding = await found(SERVER_CHECKS, 'api', { apiUrl: `http://127.0.0.1:${port}` });
    expect(finding).toMatchObject({ verdict, message: expect.stringContaining(message) });
  });
});

describe('behind a proxy', () => {
  const seen: string[] = [];
  let http_proxy: string;
  beforeEach(async () => {
    seen.length = 0;
    const proxy = createHttpServer(({ url }, response) => {
      seen.push(String(url));
      response.end('{"status":"ok"}');
    });
    http_proxy = `http://127.0.0.1:${await portOf(proxy)}`;
  });
  const messagesOf = async (env: Record<string, string>, ...names: string[]) => {
    const { stdout } = await runCommand(['doctor', '-o', 'json'], { env: { PATH: folder, http_proxy, ...env } });
    const findings = JSON.parse(stdout) as Finding[];
    return names.map((name) => findings.find(({ check }) => check === name)?.message);
  };
  const away = 'http://gateway.invalid:7080';

  it('a remote gateway is reached through it, and the api of this machine is not', async () => {
    const apiUrl = `http://127.0.0.1:${await portOf(answering('{"status":"ok"}'))}`;
    const gone = `http://127.0.0.1:${await freePort()}`;
    const home = path.join(folder, '.slipway');
    mkdirSync(path.join(home, 'run'), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(home, 'bootstrap-token'), `slw_local_${'x'.repeat(40)}`, { mode: 0o600 });
    writeFileSync(path.join(home, 'run', 'api-url'), apiUrl, { mode: 0o600 });
    writeFileSync(path.join(home, 'run', 'gateway-url'), gone, { mode: 0o600 });
    const stack = { SLIPWAY_HOME: home, SLIPWAY_URL: '', SLIPWAY_TOKEN: '' };
    expect(await messagesOf({ ...stack, SLIPWAY_GATEWAY_URL: away }, 'api', 'gateway')).toEqual([
      `${apiUrl} is ready`,
      `${away} is ready`,
    ]);
    expect(seen).toEqual([`${away}/readyz`, `${away}/healthz`]);
    expect(await messagesOf(stack, 'gateway')).toEqual([expect.stringContaining(`no response from ${gone}`)]);
    expect(seen).toHaveLength(2);
  });

  it('the usual address of this machine is called directly without a login', async () => {
    const port = await freePort();
    const none = { SLIPWAY_URL: '', SLIPWAY_TOKEN: '', SLIPWAY_API_PORT: String(port) };
    expect(await messagesOf({ ...none, SLIPWAY_GATEWAY_URL: away }, 'api', 'gateway')).toEqual([
      expect.stringContaining(`no response from http://127.0.0.1:${port}`),
      `${away} is ready`,
    ]);
    expect(seen).toEqual([`${away}/readyz`, `${away}/healthz`]);
  });

  it('an address that a person typed is reached through it, as by every other command', async () => {
    const typed = { SLIPWAY_URL: 'http://127.0.0.1:9' };
    expect(await messagesOf(typed, 'api')).toEqual(['http://127.0.0.1:9 is ready']);
    expect(seen).toContain('http://127.0.0.1:9/readyz');
  });
});

it('an endless answer is read up to its limit, and checked', async () => {
  const web = await portOf(endless('hello\n', 'HTTP/1.1 200 OK\r\n\r\n'));
  const api = await found(SERVER_CHECKS, 'api', { apiUrl: `http://127.0.0.1:${web}` });
  expect(api).toMatchObject({ verdict: 'fault', message: expect.stringContaining('is not Slipway') });
  const store = await portOf(endless('hello\n'));
  const queue = await found(STORE_CHECKS, 'queue', { env: { REDIS_URL: `redis://127.0.0.1:${store}` } });
  expect(queue).toMatchObject({ verdict: 'fault', message: expect.stringContaining('is not Redis') });
});

describe('stores', () => {
  it('reports what is there without the password', async () => {
    const port = await freePort();
    const env = {
      DATABASE_URL: `postgres://u:hidden@127.0.0.1:${port}/x`,
      REDIS_URL: `redis://:hidden@127.0.0.1:${port}`,
    };
    const findings = await findingsOf(STORE_CHECKS, around({ env }), { signal });
    expect(findings).toMatchObject([
      { check: 'postgres', verdict: 'fault', remedy: `pg_isready -h 127.0.0.1 -p ${port}` },
      { check: 'queue', verdict: 'fault', remedy: `redis-cli -h 127.0.0.1 -p ${port} ping` },
    ]);
    expect(JSON.stringify(findings)).not.toContain('hidden');
    const web = await portOf(answering('hello'));
    const other = await found(STORE_CHECKS, 'postgres', { env: { DATABASE_URL: `postgres://127.0.0.1:${web}/x` } });
    expect(other.message).toContain('is not Postgres');
  });

  it('a Redis must be new enough and must keep its data', () => {
    const info = (version: string, policy: string) =>
      `redis_version:${version}\r\nmaxmemory_policy:${policy}\r\n+PONG\r\n`;
    expect(redisFound(info('7.2.4', 'noeviction'), 'h:1', 'redis-cli ping').verdict).toBe('ok');
    expect(redisFound(info('6.0.16', 'noeviction'), 'h:1', 'redis-cli ping').verdict).toBe('fault');
    expect(redisFound(info('7.2.4', 'allkeys-lru'), 'h:1', 'redis-cli ping')).toMatchObject({
      verdict: 'warning',
      remedy: 'redis-cli config set maxmemory-policy noeviction',
    });
  });
});

it('a store that never answers is given up in time, concurrently with the others', async () => {
  const port = await portOf(silent());
  const env = { DATABASE_URL: `postgres://127.0.0.1:${port}/x`, REDIS_URL: `redis://127.0.0.1:${port}` };
  const hanging: Check = { name: 'hanging', look: () => new Promise(() => undefined) };
  const checks = [...STORE_CHECKS, ...SERVER_CHECKS.filter(({ name }) => name === 'api'), hanging];
  const findings = await findingsOf(checks, around({ env, apiUrl: `http://127.0.0.1:${port}` }), {
    signal,
    limitMs: 200,
  });
  expect(findings.map(({ check, verdict }) => [check, verdict])).toEqual([
    ['postgres', expect.stringMatching(/fault|warning/)],
    ['queue', expect.stringMatching(/fault|warning/)],
    ['api', expect.stringMatching(/fault|warning/)],
    ['hanging', 'warning'],
  ]);
});

describe("the operator's file", () => {
  const write = (text: string) => writeFileSync(path.join(folder, 'slipway.config.yaml'), text);
  const engine = 'targets: [{name: gpu, kind: process, engines: {llamacpp: {extends: builtin, path: [bin]}}}]';

  it('is checked against its schema', async () => {
    expect((await found(CONFIGURATION_CHECKS, 'configuration')).verdict).toBe('skipped');
    write(engine);
    expect(await found(CONFIGURATION_CHECKS, 'configuration')).toMatchObject({ verdict: 'ok' });
    write(engine.replace('gpu', 'GPU'));
    expect(await found(CONFIGURATION_CHECKS, 'configuration')).toMatchObject({
      verdict: 'fault',
      message: expect.stringContaining('targets.0.name must match pattern'),
      remedy: expect.stringContaining('slipway.config.yaml'),
    });
    write(engine.replace('path: [bin]', 'stop: {signal: SIGX}'));
    // The message does not list the other shapes that an engine may have.
    expect((await found(CONFIGURATION_CHECKS, 'configuration')).message).toMatch(
      /yaml: targets\.0\.engines\.llamacpp\.stop\.signal must be equal to one of the allowed values: SIGTERM, [^;]*$/,
    );
    write('targets: [');
    expect((await found(CONFIGURATION_CHECKS, 'configuration')).message).toContain('cannot be read');
    const gone = await found(CONFIGURATION_CHECKS, 'configuration', { env: { SLIPWAY_CONFIG: 'gone.yaml' } });
    expect(gone).toMatchObject({ verdict: 'fault', remedy: 'unset SLIPWAY_CONFIG' });
  });

  it('knows the programs of the built-in engines', async () => {
    // Imported by its path: the command depends on the sdk alone, and only this test compares it with the product.
    const builtIn = path.resolve(
      import.meta.dirname,
      '../../../../libs/targets/process/src/templates/builtin/index.ts',
    );
    const { builtInEngines } = (await import(builtIn)) as {
      builtInEngines(): { template: string; path?: string[]; command: (string | string[])[] }[];
    };
    const run = builtInEngines().map(({ template, path: folders = [], command }) => [
      template.split('@')[0],
      { program: command.flat()[0], path: folders },
    ]);
    expect(PROGRAMS).toEqual(Object.fromEntries(run));
  });

  it('reports which engines are installed and which are not', async () => {
    write(engine);
    const env = { PATH: path.join(folder, 'programs') };
    expect(await found(CONFIGURATION_CHECKS, 'engines', { env })).toMatchObject({
      verdict: 'warning',
      message: expect.stringContaining('llamacpp: llama-server is not on the PATH'),
      remedy: 'which llama-server',
    });
    const program = path.join(folder, 'llama-server');
    writeFileSync(program, '');
    chmodSync(program, 0o755);
    const there = await found(CONFIGURATION_CHECKS, 'engines', { env: { PATH: folder } });
    expect(there).toMatchObject({ verdict: 'ok', message: 'llamacpp (llama-server)' });
  });
});

it('the command needs neither a server nor a login, and also prints JSON', async () => {
  const port = String(await freePort());
  const env = { SLIPWAY_URL: '', SLIPWAY_TOKEN: '', PATH: folder, SLIPWAY_API_PORT: port, SLIPWAY_GATEWAY_PORT: port };
  const { code, stdout } = await runCommand(['doctor', '-o', 'json'], { env });
  const findings = JSON.parse(stdout) as Finding[];
  const verdictOf = (name: string) => findings.find(({ check }) => check === name)?.verdict;
  expect(['api', 'login', 'targets', 'postgres', 'gpus'].map(verdictOf)).toEqual([
    'warning',
    'warning',
    'skipped',
    'skipped',
    expect.stringMatching(/skipped|fault/),
  ]);
  expect(findings.filter(({ verdict, remedy }) => verdict !== 'ok' && verdict !== 'skipped' && !remedy)).toEqual([]);
  expect(code).toBe(findings.some(({ verdict }) => verdict === 'fault') ? 1 : 0);
  const broken = await runCommand(['doctor'], { env: { ...env, SLIPWAY_API_PORT: 'many' } });
  expect([broken.code, broken.stdout]).toEqual([
    1,
    expect.stringMatching(/^FAULT +api port +SLIPWAY_API_PORT is not a valid port/m),
  ]);
  const shown = await runCommand(['doctor'], { env });
  expect(shown.stdout).toMatch(/^warning +login +Not logged in\.\n +\$ slipway login$/m);
});
