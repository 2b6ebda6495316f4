import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const ID = 'op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5';
const wait = ['operations', 'wait', ID];

/** An api with one operation, and a list of all requests to it. */
function apiWith({ looks, events = () => new Response(null, { status: 204 }) }: Api) {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname } = new URL(String(url));
    if (pathname.endsWith('/events')) return events();
    asked.push(`${init?.method ?? 'GET'} ${pathname.replace('/api/v1/', '')}`);
    return looks(asked.length);
  };
  return { asked, fetch };
}
interface Api {
  /** The answer by how often the record was read. */
  looks: (count: number) => Response;
  events?: () => Response;
}

const record = (status: string, more: object = {}) =>
  Response.json({
    id: ID,
    kind: 'rollout',
    resource_name: 'chat',
    status,
    progress: 50,
    message: 'because',
    retryable: false,
    completed_at: status === 'waiting' ? null : '2026-01-01T00:00:00Z',
    result: {},
    steps: [{ name: 'await_ready', index: 0, status: 'running', message: '', started_at: null, completed_at: null }],
    ...more,
  });

afterEach(() => {
  jest.restoreAllMocks();
});

it('continues although the api is away for long, and reports that once', async () => {
  const now = performance.now.bind(performance);
  let passedMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  const { fetch } = apiWith({
    looks: (count) => {
      if (count === 5) passedMs = 30 * 60_000;
      if (count < 3 || count > 14) return record(count > 15 ? 'succeeded' : 'waiting');
      return Response.json(
        { error: { code: 'unavailable', message: 'Not now.', retryable: true } },
        { status: 503, headers: { 'retry-after': '0' } },
      );
    },
  });
  const ran = await runCommand([...wait, '-o', 'name'], { fetch });
  expect([ran.code, ran.stdout]).toEqual([0, `${ID}\n`]);
  expect(ran.stderr.match(/The api .*/g)).toEqual([
    'The api does not respond (unavailable). Waiting until it does.',
    'The api responds again.',
  ]);
}, 30_000);

describe('the wait ends, and the work continues', () => {
  it('at Ctrl-C', async () => {
    const stop = new AbortController();
    const { asked, fetch } = apiWith({
      looks: (count) => {
        if (count === 2) stop.abort();
        return record('waiting');
      },
    });
    const ran = await runCommand(wait, { fetch, signal: stop.signal });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain(
      `No longer waiting for ${ID}.\n  It continues. To wait again: slipway ${wait.join(' ')}\n`,
    );
    expect([...new Set(asked)]).toEqual([`GET operations/${ID}`]);
  });

  it('after --timeout', async () => {
    const { asked, fetch } = apiWith({ looks: () => record('waiting') });
    const ran = await runCommand([...wait, '--timeout', '30ms'], { fetch });
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(`To wait again: slipway ${wait.join(' ')}\n`)]);
    expect([...new Set(asked)]).toEqual([`GET operations/${ID}`]);
  });
});

it.each([
  ['succeeded', 0, {}],
  ['failed', 3, { error_code: 'analysis_failed' }],
  ['cancelled', 2, { error_code: 'cancelled_by_user' }],
])('an operation that has ended %s ends the command with %i', async (status, code, more) => {
  const { fetch } = apiWith({ looks: () => record(status, more) });
  const ran = await runCommand([...wait, '-o', 'name'], { fetch });
  expect([ran.code, ran.stdout]).toEqual([code, code === 0 ? `${ID}\n` : '']);
});

describe('a person is needed', () => {
  const waits = (waiting_for: string | null, more: object = {}) =>
    record('waiting', { kind: 'rollout', waiting_for, ...more });

  it.each([
    ['approval', /the approval of a person/, 'slipway rollouts promote chat'],
    ['decision', /a person must decide/, 'slipway rollouts promote chat'],
    ['resume', /paused by alice: until Monday/, 'slipway rollouts resume chat'],
  ])('%s: the wait ends with a code of its own, and prints what to type', async (word, why, line) => {
    const pause = { at: 'now', by: { type: 'person', id: 'per_1', name: 'alice' }, reason: 'until Monday' };
    const { asked, fetch } = apiWith({ looks: (count) => waits(count < 3 ? 'soak' : word, { pause }) });
    const ran = await runCommand(wait, { fetch });
    expect([ran.code, ran.stdout]).toEqual([8, '']);
    expect(ran.stderr).toMatch(why);
    expect(ran.stderr.split(line)).toHaveLength(2);
    expect(ran.stderr).toContain(`slipway rollouts abort chat\n  To wait again: slipway ${wait.join(' ')}\n`);
    expect([...new Set(asked)]).toEqual([`GET operations/${ID}`]);
  });

  it.each(['soak', 'capacity', 'traffic', 'something later', null])('%s is no reason to end', async (word) => {
    const { fetch } = apiWith({ looks: (count) => (count < 3 ? waits(word) : record('succeeded')) });
    expect((await runCommand(wait, { fetch })).code).toBe(0);
  });

  it('by an older api, which has only awaiting', async () => {
    const { fetch } = apiWith({ looks: () => record('waiting', { awaiting: 'approval' }) });
    expect((await runCommand(wait, { fetch })).code).toBe(8);
  });

  it('and rollouts watch stays until the end, and prints what to type once', async () => {
    const { fetch } = apiWith({ looks: (count) => (count < 4 ? waits('approval') : record('succeeded')) });
    const ran = await runCommand(['rollouts', 'watch', ID], { fetch });
    expect([ran.code, ran.stderr.match(/slipway rollouts promote chat/g)]).toEqual([
      0,
      ['slipway rollouts promote chat'],
    ]);
  });
});

it('names the bake that watches a rollout after its end', async () => {
  const { fetch } = apiWith({ looks: () => record('succeeded', { result: { bake_operation_id: 'op_2' } }) });
  expect((await runCommand(wait, { fetch })).stderr).toContain('slipway operations wait op_2\n');
});

it('does not fail without the events that are shown next to the record', async () => {
  const events = () => Response.json({ error: { code: 'forbidden', message: 'No.' } }, { status: 403 });
  const { fetch } = apiWith({ looks: (count) => record(count < 3 ? 'waiting' : 'succeeded'), events });
  expect((await runCommand(wait, { fetch })).code).toBe(0);
});
