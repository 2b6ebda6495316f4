import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ReceiverNames } from './receiver-names.js';

const ADDRESS = [{ address: '192.0.2.1', family: 4 }];

let names: ReceiverNames;
/** The look-ups that have begun and not ended, with what ends them. */
let begun: Map<string, () => void>;
let count: number;

beforeEach(() => {
  jest.useFakeTimers();
  begun = new Map();
  count = 0;
  names = new ReceiverNames((name) => {
    count += 1;
    return new Promise((resolve) =>
      begun.set(name, () => {
        begun.delete(name);
        resolve(ADDRESS);
      }),
    );
  });
});
afterEach(() => {
  jest.useRealTimers();
});

const settle = () => jest.advanceTimersByTimeAsync(0);
const end = async (name: string) => {
  begun.get(name)!();
  await settle();
};
/** Looks a name up, which takes that long. */
const lookUp = async (name: string, ms: number) => {
  const found = names.resolve(name);
  await jest.advanceTimersByTimeAsync(ms);
  await end(name);
  return found;
};

it('a name that was quick is looked up at once, while slow and new ones wait for each other', async () => {
  await lookUp('quick.example', 10);
  for (const name of ['slow-1.example', 'slow-2.example', 'slow-3.example']) void names.resolve(name);
  await jest.advanceTimersByTimeAsync(5_000);
  expect([...begun.keys()]).toEqual(['slow-1.example']);
  void names.resolve('quick.example');
  expect([...begun.keys()]).toEqual(['slow-1.example', 'quick.example']);
  await end('slow-1.example');
  expect([...begun.keys()]).toEqual(['quick.example', 'slow-2.example']);
});

it('a new name comes before slow ones', async () => {
  await lookUp('slow-1.example', 3_000);
  await lookUp('slow-2.example', 3_000);
  void names.resolve('slow-1.example');
  void names.resolve('slow-2.example');
  void names.resolve('new.example');
  await end('slow-1.example');
  expect([...begun.keys()]).toEqual(['new.example']);
});

it('a name that becomes slow loses its advantage, and gets it back', async () => {
  await lookUp('a.example', 10);
  await lookUp('a.example', 3_000);
  void names.resolve('slow.example');
  void names.resolve('a.example');
  expect([...begun.keys()]).toEqual(['slow.example']);
  await end('slow.example');
  await end('a.example');
  void names.resolve('slow-2.example');
  void names.resolve('a.example');
  expect([...begun.keys()]).toEqual(['slow-2.example', 'a.example']);
});

it('deliveries to one name share a look-up, and a failure reaches all of them', async () => {
  const [one, two] = [names.resolve('a.example'), names.resolve('a.example')];
  await end('a.example');
  expect([await one, await two, count]).toEqual([ADDRESS, ADDRESS, 1]);
  const failing = new ReceiverNames(() => Promise.reject(new Error('no address')));
  const both = await Promise.allSettled([failing.resolve('b.example'), failing.resolve('b.example')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // The next name is not held up.
  await expect(failing.resolve('c.example')).rejects.toThrow('no address');
});
