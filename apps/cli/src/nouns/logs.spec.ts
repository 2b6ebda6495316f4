import { beforeEach, expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const instance = (id: string, revision: string, state: string, more: object = {}) => ({
  id,
  revision,
  state,
  ordinal: 0,
  started_at: '2026-01-01T00:00:00Z',
  ...more,
});
let instances: object[];
let targets: { revision: string; weight: number }[];
/** The queries of the logs that were read, by instance. */
let read: [id: string, query: URLSearchParams][];
/** Instances whose logs cannot be read. */
let gone: string[];

beforeEach(() => {
  instances = [
    instance('ins_1', 'chat-00001', 'ready'),
    instance('ins_2', 'chat-00001', 'ready', { ordinal: 1 }),
    instance('ins_3', 'chat-00002', 'starting'),
  ];
  targets = [
    { revision: 'chat-00001', weight: 90 },
    { revision: 'chat-00002', weight: 10 },
  ];
  read = [];
  gone = [];
});

const fetch: typeof globalThis.fetch = async (url, init) => {
  const { pathname, searchParams } = new URL(String(url));
  const [, id] = /\/instances\/(\w+)\/logs$/.exec(pathname) ?? [];
  if (id) {
    read.push([id, searchParams]);
    if (gone.includes(id))
      return Response.json({ error: { code: 'logs_not_kept', message: 'Gone.', retryable: false } }, { status: 404 });
    if (new Headers(init?.headers).get('accept') !== 'text/event-stream') return new Response(`from ${id}\n`);
    const lines = `event: stdout\ndata: {"at":"now","text":"from ${id}"}\n\nevent: end\ndata: {"reason":"complete"}\n\n`;
    return new Response(lines, { headers: { 'content-type': 'text/event-stream' } });
  }
  if (pathname.endsWith('/instances')) return Response.json({ data: instances, next_cursor: null });
  if (pathname.includes('/revisions/')) return Response.json({ name: `chat-0000${pathname.at(-1)}` });
  return Response.json({ name: 'chat', route: { targets } });
};
const logs = (...words: string[]) => runCommand(['logs', 'chat', ...words], { fetch });

it('shows the instance that serves, and says on stderr which one it is', async () => {
  expect(await logs()).toEqual({ code: 0, stdout: 'from ins_1\n', stderr: 'Output of ins_1 of chat-00001 (ready)\n' });
  instances[2] = instance('ins_3', 'chat-00002', 'ready');
  targets.reverse();
  expect((await logs()).stdout).toBe('from ins_1\n');
  targets = [{ revision: 'chat-00002', weight: 100 }];
  expect((await logs('-f')).stdout).toBe('from ins_3\n');
});

it('shows the last start if nothing serves', async () => {
  instances = [
    instance('ins_1', 'chat-00001', 'exited'),
    instance('ins_2', 'chat-00001', 'exited', { started_at: '2026-01-02T00:00:00Z' }),
    instance('ins_3', 'chat-00001', 'dreaming', { started_at: null }),
  ];
  expect((await logs()).stdout).toBe('from ins_2\n');
  instances = [];
  const { code, stderr } = await logs();
  expect([code, stderr]).toEqual([6, expect.stringContaining('slipway deployments get chat')]);
});

it('shows an instance of a revision, by any of its names', async () => {
  expect((await logs('--revision', 'chat-00002')).stdout).toBe('from ins_3\n');
  expect((await logs('--revision', '1')).stdout).toBe('from ins_1\n');
  expect((await logs('--revision', '3')).code).toBe(6);
});

it.each([[[]], [['-f']]])('shows all instances with %j, each line with its instance', async (more) => {
  const { stdout, stderr } = await logs('--all', ...more);
  expect(stdout.split('\n').sort()).toEqual(['', 'ins_1  from ins_1', 'ins_2  from ins_2', 'ins_3  from ins_3']);
  expect(stderr).toBe('');
  gone = ['ins_2'];
  const some = await logs('--all', '--revision', '1', ...more);
  expect(some).toEqual({ code: 0, stdout: 'ins_1  from ins_1\n', stderr: 'Warning: ins_2: Gone.\n' });
  gone = ['ins_1', 'ins_2'];
  expect((await logs('--all', '--revision', '1', ...more)).code).toBe(1);
});

it('takes the age of the lines, and all lines of that time', async () => {
  const before = Date.now();
  await logs('--since', '10m');
  await logs('--since', '2026-01-01T00:00:00Z', '--tail', '5');
  const [aged, timed] = read.map(([, query]) => query);
  const since = Date.parse(aged!.get('since')!);
  expect(since).toBeGreaterThanOrEqual(before - 600_000);
  expect(since).toBeLessThanOrEqual(Date.now() - 600_000);
  expect([aged!.get('tail'), timed!.get('tail'), timed!.get('since')]).toEqual(['10000', '5', '2026-01-01T00:00:00Z']);
  expect((await logs('--since', 'yesterday')).code).toBe(1);
});

it('does not choose for someone who has chosen', async () => {
  expect(await logs('ins_2')).toEqual({ code: 0, stdout: 'from ins_2\n', stderr: '' });
  for (const more of [['--all'], ['--revision', '1']]) expect((await logs('ins_2', ...more)).code).toBe(1);
});
