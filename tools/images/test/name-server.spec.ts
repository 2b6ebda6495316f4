import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NameServer } from './name-server.js';

const names = new NameServer();
const resolver = new Resolver({ timeout: 5_000, tries: 2 });
let socket: Socket;

beforeAll(async () => {
  socket = createSocket('udp4');
  names.answerOn(socket);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
});
afterAll(() => void socket.close());

it('a service has an address for each of its containers, and none after the last has ended', async () => {
  names.add('api', '172.31.70.128');
  names.add('api', '172.31.70.129');
  names.add('api', '172.31.70.129');
  expect((await resolver.resolve4('api')).sort()).toEqual(['172.31.70.128', '172.31.70.129']);
  expect((await resolver.resolve4('API')).length).toBe(2);
  names.remove('api', '172.31.70.128');
  expect(await resolver.resolve4('api')).toEqual(['172.31.70.129']);
  names.remove('api', '172.31.70.129');
  await expect(resolver.resolve4('api')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('a service has no addresses of IPv6, and other names do not exist', async () => {
  names.add('redis', '172.31.70.130');
  await expect(resolver.resolve6('redis')).rejects.toMatchObject({ code: 'ENODATA' });
  await expect(resolver.resolve4('example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});
