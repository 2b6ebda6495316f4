import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { findOrStartRedis } from './optional-servers.js';

const hasServer = spawnSync('redis-server', ['--version']).status === 0;

(hasServer ? it : it.skip)('starts a redis-server where REDIS_URL does not answer, and ends it', async () => {
  const redis = await findOrStartRedis('redis://127.0.0.1:1');
  expect(redis.note).toContain('no Redis responds at REDIS_URL');
  const client = new Redis(redis.url ?? '');
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  client.disconnect();
  expect((await findOrStartRedis(redis.url)).note).toBe('Redis: the one at REDIS_URL');
  await redis.stop();
  const another = await findOrStartRedis(redis.url);
  expect(another.note).not.toBe('Redis: the one at REDIS_URL');
  await another.stop();
});
