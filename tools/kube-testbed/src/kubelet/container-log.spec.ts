import { expect, it } from '@jest/globals';
import { ContainerLog, type LogQuery } from './container-log.js';

const all: LogQuery = { timestamps: false, follow: false };

async function textOf(log: ContainerLog, query: Partial<LogQuery> = {}): Promise<string> {
  let text = '';
  for await (const piece of log.read({ ...all, ...query }, new AbortController().signal)) text += String(piece);
  return text;
}

it('keeps lines whole, even if the output arrives in pieces', async () => {
  const log = new ContainerLog();
  log.write('Stdout', Buffer.from('on'));
  log.write('Stderr', Buffer.from('bad\n'));
  log.write('Stdout', Buffer.from('e\ntwo\nthr'));
  expect(await textOf(log)).toBe('bad\none\ntwo\n');
  log.end();
  expect(await textOf(log)).toBe('bad\none\ntwo\nthr');
  expect(await textOf(log, { tailLines: 2 })).toBe('two\nthr');
  expect(await textOf(log, { tailLines: 0 })).toBe('');
  expect(await textOf(log, { tailLines: 1, stream: 'Stderr' })).toBe('bad\n');
  expect(await textOf(log, { limitBytes: 6 })).toBe('bad\non');
  expect(await textOf(log, { since: new Date(Date.now() + 1_000) })).toBe('');
  expect(await textOf(log, { tailLines: 1, timestamps: true })).toMatch(/^\d{4}-.*Z thr$/);
});

it('forgets the oldest of 20 MB, and cuts a line without an end', async () => {
  const log = new ContainerLog();
  for (let megabyte = 0; megabyte < 20; megabyte += 1) log.write('Stdout', Buffer.alloc(2 ** 20, 'x'));
  log.write('Stdout', Buffer.from('\nlast\n'));
  const text = await textOf(log);
  expect(text.length).toBeLessThanOrEqual(4 * 2 ** 20);
  expect(text.length).toBeGreaterThan(3 * 2 ** 20);
  expect(text.endsWith('\nlast\n')).toBe(true);
});

it('follows until the run ends, or the reader leaves', async () => {
  const log = new ContainerLog();
  log.write('Stdout', Buffer.from('one\n'));
  const left = new AbortController();
  const follow = async (signal: AbortSignal): Promise<string> => {
    let text = '';
    for await (const piece of log.read({ ...all, follow: true }, signal)) text += String(piece);
    return text;
  };
  const [leaves, stays] = [follow(left.signal), follow(new AbortController().signal)];
  log.write('Stdout', Buffer.from('two\n'));
  await new Promise((resolve) => setImmediate(resolve));
  left.abort();
  expect(await leaves).toBe('one\ntwo\n');
  log.write('Stdout', Buffer.from('three\n'));
  log.end();
  expect(await stays).toBe('one\ntwo\nthree\n');
});
