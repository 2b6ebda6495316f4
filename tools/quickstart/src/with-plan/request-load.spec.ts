import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { RequestLoad } from './request-load.js';

let end: () => Promise<void> = async () => undefined;
afterEach(() => end());

async function loadOn(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<RequestLoad> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // Always the average time to the next request.
  const average = () => 1 - Math.exp(-1);
  const load = new RequestLoad({ gatewayUrl: `http://127.0.0.1:${port}`, token: 't', model: 'busy' }, average);
  end = async () => {
    await load.stop();
    server.closeAllConnections();
    server.close();
  };
  return load;
}

async function until(condition: () => boolean): Promise<void> {
  for (let left = 500; !condition(); left -= 1) {
    if (left === 0) throw new Error(`it did not become true: ${condition}`);
    await delay(10);
  }
}

it('asks for the deployment without waiting for earlier answers, at its rate', async () => {
  const bodies: object[] = [];
  const load = await loadOn((request) => {
    request.on('data', (data) => bodies.push(JSON.parse(String(data)) as object));
  });
  const startedAt = performance.now();
  load.setRate(50);
  await until(() => bodies.length >= 10);
  expect(performance.now() - startedAt).toBeGreaterThan(150);
  expect(bodies[0]).toEqual({ model: 'busy', messages: [{ role: 'user', content: 'Hi' }] });
});

it('has at most sixty requests in flight', async () => {
  let open = 0;
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  const load = await loadOn(() => (open += 1));
  load.setRate(2_000);
  await until(() => open >= 60);
  await delay(200);
  expect(open).toBe(60);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

it('sends nothing more after its stop', async () => {
  let count = 0;
  const load = await loadOn((_, response) => {
    count += 1;
    response.end('{}');
  });
  load.setRate(200);
  await until(() => load.answered > 5);
  await load.stop();
  // A request that was given up may still arrive.
  await delay(50);
  const before = count;
  await delay(100);
  expect(count).toBe(before);
});

it('names the failure if the last twenty requests failed, and only then', async () => {
  let count = 0;
  const load = await loadOn((_, response) => {
    count += 1;
    response.writeHead(count === 15 ? 200 : 503).end('no instance is ready');
  });
  load.setRate(500);
  await until(() => count >= 33);
  expect(() => load.assertAnswered()).not.toThrow();
  await until(() => count >= 60);
  expect(() => load.assertAnswered()).toThrow(
    /^the last \d+ requests through the gateway failed: the gateway returned 503: no instance is ready$/,
  );
});
