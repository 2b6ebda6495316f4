import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ProcessLife } from './process-life.js';

const EVENTS = ['SIGTERM', 'SIGINT', 'disconnect'] as const;
let log: string[];
let exit: jest.SpiedFunction<typeof process.exit>;
let before: Map<string, unknown[]>;

beforeEach(() => {
  log = [];
  exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as () => never);
  before = new Map(EVENTS.map((event) => [event, process.listeners(event as NodeJS.Signals)]));
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const event of EVENTS)
    for (const listener of process.listeners(event as NodeJS.Signals))
      if (!before.get(event)!.includes(listener)) process.removeListener(event, listener);
});

const born = () =>
  new ProcessLife({
    name: 'api',
    logLevel: 'info',
    log: { info: (line) => log.push(line), error: (line) => log.push(`error: ${line}`) },
  });
const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

it.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['disconnect', 'the launcher has exited'],
])('closes once and exits with 0 at %s, however many signals come', async (event, reason) => {
  const life = born();
  let end: () => void = () => undefined;
  const close = jest.fn((_reason: string) => new Promise<void>((resolve) => (end = resolve)));
  life.closesWith(close);
  expect(life.isStopping).toBe(false);
  process.emit(event as 'disconnect');
  process.emit('SIGTERM');
  process.emit('SIGINT');
  await nextIteration();
  expect([life.isStopping, close.mock.calls, log]).toEqual([true, [[reason]], [`stopping: ${reason}`]]);
  expect(exit).not.toHaveBeenCalled();
  end();
  await nextIteration();
  expect(exit.mock.calls).toEqual([[0]]);
});

it('exits with 1 if a stop fails, and reports why', async () => {
  const life = born();
  life.closesWith(() => Promise.reject(new Error('Postgres is away')));
  process.emit('SIGTERM');
  await nextIteration();
  expect(exit.mock.calls).toEqual([[1]]);
  expect(log).toEqual(['stopping: SIGTERM', 'error: stopping failed: Postgres is away']);
});

it('exits at once if nothing has started yet', async () => {
  born();
  process.emit('SIGTERM');
  await nextIteration();
  expect(exit.mock.calls).toEqual([[0]]);
});

it('names the variable of a port that is in use', async () => {
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  const address = { host: '127.0.0.1', port: 7070, variable: 'SLIPWAY_API_PORT' };
  await born().listen(address, () => Promise.reject(taken));
  expect(exit.mock.calls[0]).toEqual([78]);
  expect(String(written.mock.calls[0]![0])).toContain('SLIPWAY_API_PORT: port 7070 is taken by another program.');
});
