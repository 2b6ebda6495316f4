import { describe, expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const stepsOf = (...steps: string[]) =>
  steps.map((words, index) => {
    const [name, status = 'succeeded'] = words.split(' ');
    return { name, status, index };
  });
const operation = (id: string, more: object = {}) => ({
  id,
  kind: 'rollout',
  resource_name: 'chat',
  status: 'waiting',
  current_step: 'soak:1',
  waiting_for: 'soak',
  created_at: '2026-01-01T00:00:00Z',
  completed_at: null,
  requested_by: { type: 'token', id: 'tok_1' },
  reason: null,
  message: '',
  result: {
    revision: 'chat-00002',
    strategy: 'canary',
    strategy_steps: [{ traffic_percent: 10 }, { traffic_percent: 100 }],
  },
  steps: stepsOf('await_ready', 'shift_traffic:1', 'soak:1 waiting', 'shift_traffic:2 pending'),
  ...more,
});
const ended = (id: string, created_at: string, outcome: string, more: object = {}) =>
  operation(id, {
    status: 'succeeded',
    waiting_for: null,
    created_at,
    completed_at: new Date(Date.parse(created_at) + 90_000).toISOString(),
    result: { revision: 'chat-00002', strategy: 'immediate', outcome },
    ...more,
  });

/** An api with these operations, by kind and in pages of one. It keeps the requests to it. */
function apiWith(operations: { kind: string }[]) {
  const asked: { method: string; path: string; query: Record<string, string>; body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname, searchParams } = new URL(String(url));
    const method = init?.method ?? 'GET';
    const query = Object.fromEntries(searchParams);
    asked.push({
      method,
      path: pathname.replace('/api/v1', ''),
      query,
      body: init?.body ? JSON.parse(String(init.body)) : undefined,
    });
    if (pathname.endsWith('/deployments/chat')) return Response.json({ name: 'chat', current_operation_id: 'op_9' });
    if (method === 'POST') return Response.json(operation('op_9'));
    const found = operations.filter(({ kind }) => kind === query['kind']);
    const at = Number(query['cursor'] ?? 0);
    return Response.json({ data: found.slice(at, at + 1), next_cursor: at + 1 < found.length ? String(at + 1) : null });
  };
  return { asked, fetch };
}
const rowsOf = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>[];

describe('rollouts list', () => {
  it('shows status, wait, step, share, age, and what to type', async () => {
    const { asked, fetch } = apiWith([operation('op_1')]);
    const words = ['rollouts', 'list', 'chat', '--waiting-for', 'soak'];
    const { code, stdout } = await runCommand(words, { fetch });
    const [head, row] = stdout.split('\n');
    expect([code, head]).toEqual([
      0,
      expect.stringMatching(/^ID +DEPLOYMENT +REVISION +STATUS +WAITING FOR +STEP +SHARE +AGE +NEXT$/),
    ]);
    expect(row).toMatch(
      /^op_1 +chat +chat-00002 +waiting +soak +soak:1 +10% +\d+d +To end .*slipway rollouts promote chat/,
    );
    expect(asked[0]?.query).toMatchObject({ kind: 'rollout', resource_name: 'chat', waiting_for: 'soak' });
    await runCommand(['rollouts', 'list'], { fetch });
    expect(asked.at(-1)?.query).not.toHaveProperty('resource_name');
  });

  it.each([
    ['of a first revision, which gets all traffic', stepsOf('await_ready', 'shift_traffic:1', 'promote running'), 100],
    [
      'of one that has moved nothing yet',
      stepsOf('await_ready waiting', 'shift_traffic:1 pending', 'soak:1 pending'),
      null,
    ],
    ['of the second step', stepsOf('shift_traffic:1', 'soak:1', 'shift_traffic:2', 'soak:2 waiting'), 100],
    ['of one that was undone', stepsOf('shift_traffic:1 undone', 'soak:1 failed', 'revert_traffic'), 0],
  ])('knows the share %s', async (_what, steps, share) => {
    const { fetch } = apiWith([operation('op_1', { steps })]);
    const { stdout } = await runCommand(['rollouts', 'list', '-o', 'json'], { fetch });
    expect(rowsOf(stdout)[0]).toMatchObject({ id: 'op_1', share_percent: share, waiting_for: 'soak' });
  });
});

describe('rollouts history', () => {
  const all = [
    operation('op_5', { created_at: '2026-01-05T00:00:00Z' }),
    ended('op_4', '2026-01-04T00:00:00Z', 'reverted', { status: 'failed', error_code: 'analysis_failed' }),
    ended('op_3', '2026-01-03T00:00:00Z', '', { kind: 'rollback', requested_by: { id: 'per_1', name: 'alice' } }),
    ended('op_2', '2026-01-02T00:00:00Z', 'unchanged'),
    ended('op_1', '2026-01-01T00:00:00Z', '', { kind: 'rollback', status: 'cancelled' }),
  ];

  it('has rollouts and rollbacks that have ended, newest first', async () => {
    const { fetch } = apiWith(all);
    const { stdout } = await runCommand(['rollouts', 'history', 'chat', '-o', 'json'], { fetch });
    expect(rowsOf(stdout).map(({ id, outcome, duration_seconds }) => [id, outcome, duration_seconds])).toEqual([
      ['op_4', 'reverted (analysis_failed)', 90],
      ['op_3', 'succeeded', 90],
      ['op_2', 'unchanged', 90],
      ['op_1', 'cancelled', 90],
    ]);
    const table = (await runCommand(['rollouts', 'history', 'chat'], { fetch })).stdout.split('\n');
    expect(table[1]).toMatch(
      /^2026-01-04T00:01:30\.000Z \(\d+d ago\) +rollout +chat-00002 +immediate +reverted .* token:tok_1 +1:30 /,
    );
    expect(table[2]).toMatch(/ rollback .* alice +1:30 /);
  });

  it('reads only as much as --limit shows', async () => {
    const { asked, fetch } = apiWith(all);
    const { stdout } = await runCommand(['rollouts', 'history', 'chat', '--limit', '1', '-o', 'name'], { fetch });
    expect([stdout, asked.length]).toEqual(['op_4\n', expect.any(Number)]);
    expect(asked.length).toBeLessThan(all.length + 1);
  });
});

it.each([
  [['promote', 'chat'], 'promote', {}],
  [['promote', 'chat', '--full', '--reason', 'why'], 'promote', { to: 'full', reason: 'why' }],
  [['pause', 'chat', '--reason', 'why'], 'pause', { reason: 'why' }],
  [['resume', 'op_9'], 'resume', {}],
  [['abort', 'chat', '--yes'], 'cancel', {}],
  [['cancel', 'chat', '--yes', '--reason', 'why'], 'cancel', { reason: 'why' }],
])('rollouts %j sends %s', async (words, call, body) => {
  const { asked, fetch } = apiWith([]);
  expect((await runCommand(['rollouts', ...words], { fetch })).code).toBe(0);
  expect(asked.at(-1)).toMatchObject({ method: 'POST', path: `/operations/op_9/${call}`, body });
});

it('shows on a deployment what it waits for, what to type, what it drains, and its last failed start', async () => {
  const draining = { requests: 2, revisions: [{ revision: 'chat-00001', requests: 2, until: '2026-01-01T00:10:00Z' }] };
  const last_failed_start = {
    revision: 'chat-00002',
    instance_id: 'ins_1',
    at: '2026-01-01T00:00:00Z',
    cause: 'gpu_memory',
    message: 'it ended with code 1',
    remediation: 'Use a smaller model.',
  };
  const fetch = async () => Response.json({ name: 'chat', waiting_for: 'approval', draining, last_failed_start });
  const { stdout } = await runCommand(['deployments', 'get', 'chat'], { fetch });
  expect(stdout).toMatch(/^WAITING FOR +the next step needs the approval of a person$/m);
  expect(stdout).toMatch(/^NEXT +To approve it: slipway rollouts promote chat; /m);
  expect(stdout).toMatch(/^DRAINING +chat-00001: 2 requests until 2026-01-01T00:10:00Z$/m);
  expect(stdout).toMatch(
    /^FAILED START +gpu_memory: it ended with code 1 \(ins_1 of chat-00002, 2026-01-01T00:00:00Z\)$/m,
  );
  expect(stdout).toMatch(/^REMEDY +Use a smaller model\.$/m);
  const list = await runCommand(['deployments', 'list'], {
    fetch: async () => Response.json({ data: [{ name: 'chat', waiting_for: 'approval' }], next_cursor: null }),
  });
  expect(list.stdout).toMatch(/WAITING FOR .*\n.* approval /);
});

it.each([
  [{ per_hour: { amount: 0.8, currency: 'EUR' }, devices: 1, accelerator: 'nvidia-l4' }, '0.80 EUR/h, 1 x nvidia-l4'],
  [
    { per_hour: { amount: 1234.5678, currency: 'USD' }, devices: 16, accelerator: 'h100' },
    '1234.5678 USD/h, 16 x h100',
  ],
  [{ per_hour: { amount: 0, currency: 'EUR' }, devices: 0, accelerator: 'l4' }, '0.00 EUR/h, 0 x l4'],
  [{ per_hour: null, devices: 2, accelerator: 'nvidia-l4' }, 'no price, 2 x nvidia-l4'],
  [{ per_hour: null, devices: 2, accelerator: null }, 'no price, 2 x device'],
  [null, '-'],
  [undefined, '-'],
])('shows the cost %j of a deployment as %s', async (cost, text) => {
  const fetch = async () => Response.json({ name: 'chat', cost });
  const { stdout } = await runCommand(['deployments', 'get', 'chat'], { fetch });
  expect(/^COST +(.*)$/m.exec(stdout)?.[1]).toBe(text);
});

it('ends drains only after a yes', async () => {
  const { asked, fetch } = apiWith([]);
  expect((await runCommand(['deployments', 'end-drain', 'chat'], { fetch })).code).toBe(1);
  expect(asked).toEqual([]);
  expect((await runCommand(['deployments', 'end-drain', 'chat', '--yes'], { fetch })).code).toBe(0);
  expect(asked).toMatchObject([{ method: 'POST', path: '/deployments/chat/end-drain' }]);
});
