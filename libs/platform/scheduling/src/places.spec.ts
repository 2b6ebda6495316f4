import { expect, it } from '@jest/globals';
import { Places } from './places.js';

/** Work that stands still until it is let go. */
function held(places: Places, log: string[], name: string) {
  let release!: () => void;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const over = places.hold(async () => {
    log.push(name);
    await gate;
  });
  return { release, over };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('lets no more run at a time than it has places, and the others in their order', async () => {
  const places = new Places(2);
  const log: string[] = [];
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => held(places, log, name));
  await turn();
  expect(log).toEqual(['a', 'b']);
  b!.release();
  await b!.over;
  await turn();
  expect(log).toEqual(['a', 'b', 'c']);
  for (const one of [a, c, d]) one!.release();
  await Promise.all([a, c, d].map((one) => one!.over));
  expect(log).toEqual(['a', 'b', 'c', 'd']);
});

it('gives the place back where the work fails', async () => {
  const places = new Places(1);
  await expect(places.hold(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(places.hold(async () => 'next')).resolves.toBe('next');
});
