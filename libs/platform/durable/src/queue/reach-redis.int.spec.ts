import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { redisAnswers } from '../../test/queue/backends.js';
import { redisFault } from './reach-redis.js';

const servers: net.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const listening = async (server: net.Server): Promise<string> => {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
};

/** A Redis that answers INFO with these fields, or every command with the given answer. */
const standIn = (answer: string, info: Record<string, string> = {}): Promise<string> => {
  const text = Object.entries(info)
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('');
  return listening(
    net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        for (const _ of data.toString().match(/\*\d+\r\n/g) ?? [])
          socket.write(answer || `$${text.length}\r\n${text}\r\n`);
      });
    }),
  );
};

describe('the fault of a REDIS_URL', () => {
  it('names a server that rejects the user or password', async () => {
    const address = await standIn('-WRONGPASS invalid username-password pair or user is disabled.\r\n');
    expect(await redisFault(`redis://:wrong@${address}`)).toEqual({
      kind: 'refused',
      text: `Redis at ${address} rejects the user or password (WRONGPASS invalid username-password pair or user is disabled.). Correct REDIS_URL, e.g. redis://:password@host:6379.`,
    });
    const closed = await standIn('-NOAUTH Authentication required.\r\n');
    expect((await redisFault(`redis://${closed}`))?.text).toBe(
      `Redis at ${closed} rejects the user or password (NOAUTH Authentication required.). Correct REDIS_URL, e.g. redis://:password@host:6379.`,
    );
  });

  it('names a Redis that may evict jobs or is too old', async () => {
    const evicting = await standIn('', { redis_version: '7.2.0', maxmemory_policy: 'allkeys-lru' });
    expect(await redisFault(`redis://${evicting}`)).toEqual({
      kind: 'refused',
      text: `Redis at ${evicting} may evict jobs (maxmemory-policy allkeys-lru). Set maxmemory-policy to noeviction: run redis-cli config set maxmemory-policy noeviction, and change its configuration file.`,
    });
    const old = await standIn('', { redis_version: '6.0.16', maxmemory_policy: 'noeviction' });
    expect((await redisFault(`redis://${old}`))?.text).toBe(`${old} is Redis 6.0.16; the queue needs 6.2 or newer.`);
    expect(
      await redisFault(`redis://${await standIn('', { redis_version: '6.2.0', maxmemory_policy: 'noeviction' })}`),
    ).toBeUndefined();
  });

  it('names an unknown host, a port without a server, and a server that is not Redis', async () => {
    expect(await redisFault('redis://nowhere..example:6379')).toEqual({
      kind: 'unknown_host',
      text: 'the host of nowhere..example:6379 is unknown. Correct REDIS_URL.',
    });
    const gone = net.createServer();
    const free = await listening(gone);
    gone.close();
    expect(await redisFault(`redis://${free}`)).toEqual({
      kind: 'away',
      text: `nothing listens on ${free} (connection refused). Start the server there, or correct REDIS_URL.`,
    });
    const http = await listening(createServer((_, response) => response.end('hi')));
    expect(await redisFault(`redis://${http}`)).toEqual({
      kind: 'refused',
      text: `the server at ${http} is not Redis. Correct REDIS_URL.`,
    });
    const silent = await listening(net.createServer(() => undefined));
    expect(await redisFault(`redis://${silent}`)).toEqual({
      kind: 'away',
      text: `the server at ${silent} accepts the connection but does not respond like Redis (Command timed out). Start Redis there, or correct REDIS_URL.`,
    });
  }, 30_000);

  it('is undefined for the Redis of these tests, if there is one, unless it evicts', async () => {
    const url = process.env['REDIS_URL'];
    if (!url || !(await redisAnswers(url))) return;
    const client = new Redis(url);
    const [, policy = 'noeviction'] = (await client.config('GET', 'maxmemory-policy')) as string[];
    client.disconnect();
    const fault = await redisFault(url);
    expect(fault === undefined).toBe(policy === 'noeviction');
  });
});
