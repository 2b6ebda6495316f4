import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { parseOperatorConfig } from '@slipway/platform-config';
import type { InstanceSpec } from '@slipway/target-driver';
import { checksOf, isQualified, runCheck } from '@slipway/target-driver/qualification';
import { endpointTarget } from '@slipway/target-endpoint';
import { Agent } from 'undici';
import { StandInHost, untilTrue, type Behaviour } from './stand-in-host.js';

// Servers that the product did not start, under the profiles that it ships.

let host: StandInHost;
let server: ChildProcess;
afterEach(async () => {
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
  await host.dispose();
});

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  await new Promise((closed) => socket.close(closed));
  return port;
}

/** Observes and then qualifies a server under its profile. Returns each check with its result. */
async function adopted(engine: string, behaviour: Behaviour, seen = 'ready') {
  host = await StandInHost.create(engine, behaviour);
  const port = await freePort();
  const argv = engine === 'ollama' ? ['serve'] : ['server', 'start', '--port', String(port)];
  server = spawn(host.program, argv, { env: { OLLAMA_HOST: `127.0.0.1:${port}` }, stdio: 'ignore' });
  const baseUrl = `http://127.0.0.1:${port}`;
  const file = { targets: [{ name: engine, kind: 'endpoint', allow: [baseUrl], profile: { extends: engine } }] };
  const { targets } = parseOperatorConfig(JSON.stringify(file), [endpointTarget]);
  const driver = endpointTarget.createDriver(targets[0]!, { home: host.home } as any);
  const spec: InstanceSpec = {
    instanceId: 'ins_1',
    generation: 1,
    model: { id: 'tiny' },
    runtime: { args: {}, env: {} },
    endpoint: { baseUrl, healthPath: '/health' },
    probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
  };
  expect(driver.check(spec)).toEqual([]);
  await driver.provision(spec);
  await untilTrue(`it is ${seen}`, async () => (await driver.observe(spec)).state === seen);
  const traits = driver.traits!(spec);
  const dispatcher = new Agent();
  const target = { baseUrl, model: 'tiny', credential: undefined, dispatcher };
  const shown = [];
  for (const name of checksOf(traits))
    shown.push({ name, ...(await runCheck(name, { target, traits, signal: new AbortController().signal })) });
  await dispatcher.destroy();
  await driver.close();
  return shown;
}

const messageOf = (shown: { name: string; message: string }[], name: string) =>
  shown.find((one) => one.name === name)?.message;

it('ollama loads at its first request, which does not count, and refuses a model that is not installed', async () => {
  const shown = await adopted('ollama', { load_ms: 1_500, models: ['tiny', 'other'] });
  expect(isQualified(shown)).toBe(true);
  expect(shown[0]).toMatchObject({ name: 'warm_up', result: 'passed' });
  expect(shown[0]!.durationMs).toBeGreaterThanOrEqual(1_490);
  expect(shown.find(({ name }) => name === 'chat_completion')!.durationMs).toBeLessThan(shown[0]!.durationMs);
  expect(messageOf(shown, 'unknown_model')).toBe('rejected with 404');
}, 60_000);

it('lmstudio answers to any name while one model is loaded', async () => {
  const shown = await adopted('lmstudio', { models: ['tiny'] });
  expect(isQualified(shown)).toBe(true);
  expect(messageOf(shown, 'unknown_model')).toBe('it responds to any name; its identity is proven in another way');
}, 60_000);

it('lmstudio refuses other names while two models are loaded, which is a note and no failure', async () => {
  const shown = await adopted('lmstudio', { models: ['tiny', 'other'] });
  expect(isQualified(shown)).toBe(true);
  expect(messageOf(shown, 'unknown_model')).toContain('although its declaration says that it responds to any name');
}, 60_000);

it('a server without the model is not qualified, whatever it answers', async () => {
  const shown = await adopted('lmstudio', { models: ['another'] }, 'unhealthy');
  expect(isQualified(shown)).toBe(false);
  expect(shown.filter(({ result }) => result === 'failed').map(({ name }) => name)).toContain('list_models');
}, 60_000);
