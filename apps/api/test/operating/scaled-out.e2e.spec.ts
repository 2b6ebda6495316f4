import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

/** A database of its own, because suites share the server of a run and this one empties it. */
const REDIS_URL = process.env['REDIS_URL'] && new URL('/1', process.env['REDIS_URL']).href;
const withRedis = REDIS_URL ? it : it.skip;

describe('the topology of the Compose file: 2 api, 2 worker, 1 gateway, Redis', () => {
  let stack: Stack;
  afterEach(() => stack?.stop());

  withRedis('rolls out through either api, survives FLUSHALL and the death of one worker', async () => {
    const env = { QUEUE_BACKEND: 'redis', REDIS_URL };
    stack = await Stack.start({ apis: 2, workers: 2, gateway: true, shipped: true, env });
    const spec = (model: string) => ({
      spec: { model: { id: model }, runtime: { target: 'local', engine: 'sim', args: { startup_ms: 500 } } },
      strategy: { type: 'immediate' },
    });
    const names = Array.from({ length: 6 }, (_, index) => `chat-${index}`);
    const ids = await Promise.all(
      names.map(async (name, index) => {
        await stack.slipway(index % 2).deployments.create({ name });
        return stack.rollOut(name, spec(name), (index + 1) % 2);
      }),
    );
    const redis = new Redis(REDIS_URL as string);
    await redis.flushdb();
    await redis.quit();
    await stack.kill('worker', 0);
    const records = await Promise.all(ids.map((id) => stack.operation(id)));
    expect(records.map((record) => record.status)).toEqual(names.map(() => 'succeeded'));
    expect(names.map((name) => stack.simulatorStarts(name).length)).toEqual(names.map(() => 1));
    for (const name of names) {
      await until(`the gateway serves ${name}`, async () => {
        const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'hello' }] }),
        });
        return answer.status === 200 && answer.headers.get('x-slipway-revision') === `${name}-00001`;
      });
    }
  });
});
