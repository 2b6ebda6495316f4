import { expect, it } from '@jest/globals';
import { SilentBackend } from '../../test/queue/silent-backend.js';
import { SupervisedQueue } from './supervised-queue.js';

const tick = () => new Promise((resolve) => setTimeout(resolve, 10));

it('closes the connections only after the running jobs have ended', async () => {
  const backend = new SilentBackend();
  let drain: () => void = () => undefined;
  backend.drained = new Promise((resolve) => (drain = resolve));
  const queue = new SupervisedQueue(async () => backend, { drainWithin: 60_000 });
  await queue.consume(async () => undefined, 1);
  queue.start();
  while (!queue.ready()) await tick();
  const closing = queue.close();
  while (backend.ending.length === 0) await tick();
  await tick();
  expect(backend.ending).toEqual(['close']);
  drain();
  await closing;
  expect(backend.ending).toEqual(['close']);
});
