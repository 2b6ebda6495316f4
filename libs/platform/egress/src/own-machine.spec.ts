import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { request } from 'undici';

const own = Object.values(os.networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

// As for an address of a cloud's load balancer: the machine has only a local route for it, and no interface.
jest.unstable_mockModule('node:os', () => ({ ...os, networkInterfaces: () => ({}) }));
const { isOfThisMachine, isToThisMachine } = await import('./addresses.js');
const { guardedDispatcher } = await import('./guarded-dispatcher.js');

let server: Server;
let port: number;
let hits = 0;
beforeAll(async () => {
  server = createServer((_incoming, outgoing) => {
    hits += 1;
    outgoing.end('hello');
  });
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

it.each([
  ['127.0.0.1', '127.0.0.1', true],
  ['::1', '::ffff:127.8.8.8', true],
  ['203.0.113.7', '203.0.113.7', true],
  ['2606:4700::7', '2606:4700:0::7', true],
  ['::ffff:203.0.113.7', '203.0.113.7', true],
  ['::1', '2606:4700::7', true],
  ['192.0.2.1', '203.0.113.7', false],
  [undefined, undefined, false],
])('a connection from %s to %s stays on this machine: %s', (localAddress, remoteAddress, stays) => {
  expect(isToThisMachine({ localAddress, remoteAddress })).toBe(stays);
});

(own === undefined ? it.skip : it)('a port of Slipway is refused at an address that is on no interface', async () => {
  const address = own as string;
  expect(isOfThisMachine(address)).toBe(false);
  const call = async (ownPorts: number[], host: string) => {
    const resolve = async () => [{ address, family: 4 }];
    const dispatcher = guardedDispatcher([`http://${host}:*`], { ownPorts, resolve, connectTimeoutMs: 2_000 });
    try {
      return (await request(`http://${host}:${port}/`, { dispatcher })).statusCode;
    } finally {
      await dispatcher.destroy();
    }
  };
  for (const host of [address, 'gpu.corp.example'])
    await expect(call([port], host)).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
  expect(hits).toBe(0);
  expect(await call([port + 1], address)).toBe(200);
});
